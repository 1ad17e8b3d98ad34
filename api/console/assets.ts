/**
 * The files of the console that browsers may ask for: an explicit map from name to bytes, read once. No name from a
 * request ever becomes a path. Names hold the version of the whole set, so that browsers may keep them for good.
 *
 * Sources stay TypeScript, as everywhere here: Node blanks out the types when a file is read, every line and column stays
 * where it is, and tests and the command line import the same modules that browsers get. There is no build step.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findPackageJSON, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

export interface Asset {
  readonly contentType: string
  readonly body: string
}

export interface Assets {
  /** Changes with any byte of any asset. */
  readonly version: string
  /** By `folder/file`. */
  readonly files: ReadonlyMap<string, Asset>
  /** Bare specifier to `folder/file`, for the import map. */
  readonly modules: ReadonlyMap<string, string>
}

/** Modules of ours by folder of `console/`; `web` needs a browser, `model` does not. */
const sources = {
  web: [
    'api',
    'browserClock',
    'chart',
    'chartView',
    'download',
    'editor',
    'editorTheme',
    'element',
    'grid',
    'gridCells',
    'liveRun',
    'main',
    'queryView',
    'resultView',
    'schemaBrowser',
    'splitter',
    'sqlLanguage',
    'statusFeed',
    'statusView',
    'tabs',
  ],
  model: [
    'axes',
    'cells',
    'csv',
    'decimal',
    'indexerClient',
    'liveRows',
    'liveStream',
    'queryAnswer',
    'queryPlan',
    'rates',
    'scale',
    'share',
  ],
} as const

const styles = ['style.css', 'query.css', 'result.css', 'status.css'] as const

/** Packages by bare specifier: their folder in URLs and the files of theirs that are loaded, the entry first. */
const packages: Readonly<Record<string, readonly [folder: string, root: string, ...files: string[]]>> = {
  '@codemirror/autocomplete': ['codemirror-autocomplete', 'dist', 'index.js'],
  '@codemirror/commands': ['codemirror-commands', 'dist', 'index.js'],
  '@codemirror/lang-sql': ['codemirror-lang-sql', 'dist', 'index.js'],
  '@codemirror/language': ['codemirror-language', 'dist', 'index.js'],
  '@codemirror/lint': ['codemirror-lint', 'dist', 'index.js'],
  '@codemirror/state': ['codemirror-state', 'dist', 'index.js'],
  '@codemirror/streamparser': ['codemirror-streamparser', 'dist', 'index.js'],
  '@codemirror/view': ['codemirror-view', 'dist', 'index.js'],
  '@lezer/common': ['lezer-common', 'dist', 'index.js'],
  '@lezer/highlight': ['lezer-highlight', 'dist', 'index.js'],
  '@lezer/lr': ['lezer-lr', 'dist', 'index.js'],
  '@marijn/find-cluster-break': ['find-cluster-break', 'src', 'index.js'],
  crelt: ['crelt', '.', 'index.js'],
  'eventsource-parser': ['eventsource-parser', 'dist', 'index.js', 'parse.js', 'errors.js'],
  'style-mod': ['style-mod', 'src', 'style-mod.js'],
  'w3c-keyname': ['w3c-keyname', '.', 'index.js'],
}

const consoleFolder = join(import.meta.dirname, '../../console')

/** Reads every file of the list. @throws when one is missing: the installation is broken */
export function readAssets(): Assets {
  const files = new Map<string, Asset>()
  const modules = new Map<string, string>()
  for (const [folder, names] of Object.entries(sources))
    for (const name of names)
      files.set(`${folder}/${name}.ts`, script(join(consoleFolder, folder, `${name}.ts`)))
  for (const name of styles)
    files.set(`web/${name}`, file(join(consoleFolder, 'web', name), 'text/css; charset=utf-8'))
  files.set('web/icon.svg', file(join(consoleFolder, 'web/icon.svg'), 'image/svg+xml; charset=utf-8'))
  for (const [specifier, [folder, root, ...names]] of Object.entries(packages)) {
    modules.set(specifier, `${folder}/${names[0]}`)
    for (const name of names)
      files.set(`${folder}/${name}`, file(join(packageFolder(specifier), root, name), javascript))
  }
  return { version: versionOf(files), files, modules }
}

const javascript = 'text/javascript; charset=utf-8'

const file = (path: string, contentType: string): Asset => ({
  contentType,
  body: readFileSync(path, 'utf8'),
})

const script = (path: string): Asset => ({
  contentType: javascript,
  body: withoutTypes(readFileSync(path, 'utf8')),
})

/** Node says once on stderr that the function is experimental; the tests say whether it still does what we need. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

function packageFolder(specifier: string): string {
  const found = findPackageJSON(specifier, import.meta.url)
  if (found === undefined) throw new Error(`the package ${specifier} is not installed`)
  return dirname(found)
}

function versionOf(files: ReadonlyMap<string, Asset>): string {
  const text = [...files].map(([name, { body }]) => `${name}\n${body}`).join('\n')
  return hash('sha256', text, 'hex').slice(0, 16)
}

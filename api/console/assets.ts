/**
 * The console as browsers get it: built from the sources by esbuild when it is first asked for, and
 * kept in memory. There is no build to run before a start, and a program that nobody looks at pays
 * nothing. No name from a request ever becomes a path.
 */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Metafile, OutputFile } from 'esbuild'

export interface Asset {
  readonly contentType: string
  readonly body: string
}

export interface Assets {
  /** Changes with any byte of any asset: browsers may keep what has it in its address. */
  readonly version: string
  readonly files: ReadonlyMap<string, Asset>
  /** Modules that the first page needs, for the browser to ask for all of them at once. */
  readonly preloaded: readonly string[]
}

export const script = 'main.js'
export const style = 'style.css'
export const icon = 'icon.svg'

const folder = join(import.meta.dirname, '../../console/web')
/** The page that is shown when a link names none. The code of others is loaded when they are. */
const firstPage = 'query/page.ts'

const contentTypes: readonly (readonly [ending: string, contentType: string])[] = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml; charset=utf-8'],
]

/**
 * @throws when the sources do not build or esbuild has no binary here: the installation is broken
 */
export async function buildAssets(): Promise<Assets> {
  const { outputFiles, metafile } = await bundle()
  const files = new Map(
    outputFiles.map(({ path, text }: OutputFile) => [relative(folder, path), assetOf(path, text)]),
  )
  files.set(icon, readIcon())
  return { version: versionOf(files), files, preloaded: preloadedOf(metafile) }
}

/** Without a build: every page of the program asks for it. */
export const readIcon = (): Asset => assetOf(icon, readFileSync(join(folder, icon), 'utf8'))

/** Loaded here, because most programs never show a console. Its process ends with the build. */
async function bundle() {
  const { build, stop } = await import('esbuild')
  try {
    return await build({
      absWorkingDir: folder,
      entryPoints: ['main.ts', 'style.css'],
      outdir: folder,
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      target: 'esnext',
      logLevel: 'silent',
    })
  } finally {
    await stop()
  }
}

function assetOf(path: string, body: string): Asset {
  const [, contentType] = contentTypes.find(([ending]) => path.endsWith(ending)) ?? []
  if (contentType === undefined) throw new TypeError(`a browser is told no type for ${path}`)
  return { contentType, body }
}

/** The files that the entry and the first page import, directly or through others. */
function preloadedOf({ outputs }: Metafile): string[] {
  const found = new Set<string>()
  const visit = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') visit(path)
  }
  for (const [name, { entryPoint }] of Object.entries(outputs))
    if (name === script || entryPoint === firstPage) visit(name)
  return [...found]
}

function versionOf(files: ReadonlyMap<string, Asset>): string {
  const text = [...files].map(([name, { body }]) => `${name}\n${body}`).join('\n')
  return hash('sha256', text, 'hex').slice(0, 16)
}

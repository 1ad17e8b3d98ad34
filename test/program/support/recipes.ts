/**
 * The commands that docs/clients.md tells payers to run, run from a folder that has the packages and
 * nothing else, or from an empty one.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Hex } from 'viem'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')
const packages = join(root, 'node_modules')
const OUTPUT_BYTES_MAX = 64 * 2 ** 20

/** `package@version` of each line that installs. */
export const installed: readonly string[] = [...page.matchAll(/npm install ([^`\n]+)/g)].flatMap(
  ([, names = '']) => names.split(' '),
)

/** The version of a package here, by its name. */
export const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version

export interface PayersFolder {
  /** Runs the script of that name. @returns what it prints */
  readonly run: (script: string) => Promise<string>
  /** Runs the commands below that heading. @returns what the last one prints */
  readonly shell: (heading: string) => Promise<string>
  /** Runs commands that something else tells payers to run. @returns what they print */
  readonly commands: (text: string) => Promise<string>
  readonly remove: () => void
}

type Variables = Readonly<Record<string, string | undefined>>

/** @param env beside the key, which lies in `payer.key` */
export function openPayersFolder(
  key: Hex,
  origin: string,
  env: Readonly<Record<string, string>> = {},
): PayersFolder {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-payer-'))
  symlinkSync(packages, join(cwd, 'node_modules'))
  writeFileSync(join(cwd, 'payer.key'), `${key}\n`, { mode: 0o600 })
  return folderAt(cwd, origin, { HOME: cwd, ...env })
}

export interface InstalledFolder extends PayersFolder {
  readonly key: Hex
  readonly address: Hex
  /** Installs what the text below that heading says beside the first packages. */
  readonly install: (heading: string) => Promise<void>
}

/** A folder as the page makes it from an empty one: packages from the registry, and a key of its own. */
export async function installPayersFolder(
  origin: string,
  env: Readonly<Record<string, string>> = {},
): Promise<InstalledFolder> {
  const empty = mkdtempSync(join(tmpdir(), 'millrace-empty-'))
  // Packages that npm has downloaded come from its cache.
  const all = { ...process.env, npm_config_prefer_offline: 'true', ...env }
  const told = await folderAt(empty, origin, all).shell('An account')
  const cwd = join(empty, 'payer')
  const folder = folderAt(cwd, origin, all)
  return {
    ...folder,
    key: hexIn(readFileSync(join(cwd, 'payer.key'), 'utf8')),
    address: hexIn(told.trim().split('\n').at(-1) ?? ''),
    install: async (heading) => {
      const [, command = ''] = /`(npm install [^`]+)`/.exec(sectionOf(heading)) ?? []
      await folder.commands(command)
    },
    remove: () => rmSync(empty, { recursive: true, force: true }),
  }
}

const hexIn = (text: string): Hex => `0x${text.trim().slice(2)}`

function folderAt(cwd: string, origin: string, env: Variables): PayersFolder {
  const paths = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  const spawned = async (file: string, args: readonly string[]) => {
    const options = { cwd, env: { ...env, PATH: paths }, maxBuffer: OUTPUT_BYTES_MAX }
    const { stdout } = await promisify(execFile)(file, args, options)
    return stdout
  }
  const here = (text: string) => text.replaceAll('http://127.0.0.1:8080', origin)
  return {
    run: async (script) => {
      const code = blocks('js').find((block) => block.startsWith(`// ${script}\n`))
      if (code === undefined) throw new Error(`the page has no ${script}`)
      writeFileSync(join(cwd, script), here(code))
      return spawned(process.execPath, [script])
    },
    shell: (heading) => {
      const [, commands = ''] = /```\n(.*?)```/s.exec(sectionOf(heading)) ?? []
      return spawned('bash', ['-ec', here(commands)])
    },
    commands: (text) => spawned('bash', ['-ec', text]),
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  }
}

/** The text below a heading of the page. */
function sectionOf(heading: string): string {
  const [, after] = page.split(`\n## ${heading}\n`)
  if (after === undefined) throw new Error(`the page has no ${heading}`)
  return after.split('\n## ')[0] ?? ''
}

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code)

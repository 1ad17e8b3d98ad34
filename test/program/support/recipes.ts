/** What docs/clients.md tells payers to run, run from a folder that has the packages and nothing else. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Hex } from 'viem'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')
const packages = join(root, 'node_modules')

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

/** @param env beside the key, which lies in `payer.key` */
export function openPayersFolder(
  key: Hex,
  origin: string,
  env: Readonly<Record<string, string>> = {},
): PayersFolder {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-payer-'))
  symlinkSync(packages, join(cwd, 'node_modules'))
  writeFileSync(join(cwd, 'payer.key'), `${key}\n`, { mode: 0o600 })
  const paths = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  const spawned = async (file: string, args: readonly string[]) => {
    const options = { cwd, env: { PATH: paths, HOME: cwd, ...env } }
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
      const [, section = ''] = page.split(`\n## ${heading}\n`)
      const [, commands = ''] = /```\n(.*?)```/s.exec(section) ?? []
      return spawned('bash', ['-ec', here(commands)])
    },
    commands: (text) => spawned('bash', ['-ec', text]),
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  }
}

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code)

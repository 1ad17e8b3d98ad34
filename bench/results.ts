/**
 * `node bench/results.ts`: writes the tables of bench/README.md from the JSON files of
 * bench/results.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface Result {
  readonly machine: string
  readonly commit: string
  readonly note: string
  readonly lines: readonly Readonly<Record<'subject' | 'measured' | 'against' | 'goal' | 'met', string>>[]
}

const page = join(import.meta.dirname, 'README.md')

/**
 * The page with its tables as the files have them: each stands between two marks that name its
 * file.
 */
export function withTables(text: string): string {
  return text.replaceAll(
    /(<!-- (\w+)\.json -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}${tableOf(name)}${end}`,
  )
}

export const resultNames = (): string[] =>
  globSync(join(import.meta.dirname, 'results/*.json')).map((path) => basename(path, '.json'))

function tableOf(name: string): string {
  const { machine, commit, note, lines }: Result = JSON.parse(
    readFileSync(join(import.meta.dirname, `results/${name}.json`), 'utf8'),
  )
  const rows = lines.map(
    ({ subject, measured, against, goal, met }) =>
      `| ${[subject, measured, against, goal, met].join(' | ')} |`,
  )
  const head = '| subject | measured | against | goal | met |\n| --- | --- | --- | --- | --- |'
  return `${machine}; commit ${commit}; ${note}.\n\n${head}\n${rows.join('\n')}\n`
}

if (import.meta.main) writeFileSync(page, withTables(readFileSync(page, 'utf8')))

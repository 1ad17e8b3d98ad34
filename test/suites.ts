/**
 * `npm run suites`: writes the list of suites of test/README.md from what each says of itself
 * behind `Goal:`. Suites that only run another in its whole breadth are not named.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const readme = join(import.meta.dirname, 'README.md')
const inBreadth = /^import '\.\/[\w.]+\.test\.ts'$/m

interface Suite {
  readonly path: string
  /** Empty where the file says none. */
  readonly goal: string
}

const suites = (): readonly Suite[] =>
  globSync('**/*.test.ts', { cwd: import.meta.dirname })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(import.meta.dirname, path), 'utf8') }))
    .filter(({ text }) => !inBreadth.test(text))
    .map(({ path, text }) => ({ path, goal: goalIn(text) }))

/** From `Goal:` to `Method:`, an empty line or the end of the comment. */
function goalIn(text: string): string {
  const [, words = ''] = /Goal: ([\s\S]*?)(?=\s*Method:|\n(?!\s*(\/\/|\*) ?\S)|\*\/)/.exec(text) ?? []
  return words
    .replaceAll(/\n\s*(\/\/|\*) ?/g, ' ')
    .replaceAll('|', '\\|')
    .trim()
}

const withSuites = (page: string): string =>
  page.replace(/(<!-- suites -->\n)[\s\S]*?(<!-- end -->)/, (_, start: string, end: string) =>
    [
      start,
      ...Map.groupBy(suites(), ({ path }) => dirname(path))
        .entries()
        .map(tableOf),
      end,
    ].join(''),
  )

const tableOf = ([folder, members]: [string, readonly Suite[]]): string =>
  [
    `\n**${folder === '.' ? 'test' : folder}/**\n`,
    '| suite | what it proves |',
    '| --- | --- |',
    ...members.map(({ path, goal }) => `| \`${path.slice(path.lastIndexOf('/') + 1)}\` | ${goal} |`),
    '',
  ].join('\n')

if (import.meta.main) writeFileSync(readme, withSuites(readFileSync(readme, 'utf8')))

/**
 * `npm run house`: the project's size and style in numbers, a Markdown table. Rules that must hold are
 * in test/tidy*.test.ts; these numbers show where to repair next.
 */
import { dirname } from 'node:path'
import { functionLines } from './support/longFunctions.ts'
import { glob, isTest, read, sources, withoutComments } from './support/projectFiles.ts'
import { perThousand, prosePages, readProse } from './support/prose.ts'

const all = glob('**/*.ts')
const tests = all.filter((file) => isTest(file) || /^test\//.test(file))
const linesOf = (file: string) => read(file).split('\n').length - 1
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const linesIn = (files: readonly string[]) => sum(files.map(linesOf))

/** "4/16/70": the median, the ninth decile and the greatest. */
function deciles(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  return [at(0.5), at(0.9), at(1)].join('/')
}

const above = (numbers: readonly number[], bound: number) => numbers.filter((one) => one > bound).length

const matches = (files: readonly string[], pattern: RegExp, text = (file: string) => read(file)) =>
  sum(files.map((file) => text(file).match(pattern)?.length ?? 0))

const code = (file: string) => withoutComments(read(file))
const perKloc = (count: number) => ((1_000 * count) / linesIn(sources)).toFixed(2)

function sizes(): string[][] {
  const functions = sources.flatMap((file) => functionLines(read(file)))
  const files = sources.map(linesOf)
  const ofTests = tests.flatMap((file) => functionLines(read(file)))
  const bench = all.filter((file) => file.startsWith('bench/'))
  const total = (name: string, of: readonly string[]) => [name, `${of.length}; ${linesIn(of)}`]
  return [
    total('files, lines of the product', sources),
    total('of tests', tests),
    total('of bench', bench),
    ['functions p50/p90/max', `${deciles(functions)} of ${functions.length}`],
    ['functions > 70 lines', `${above(functions, 70)}`],
    ['files p50/p90/max; > 300', `${deciles(files)}; ${above(files, 300)}`],
    [
      'test functions > 150; > 70; longest',
      `${above(ofTests, 150)}; ${above(ofTests, 70)}; ${Math.max(...ofTests)}`,
    ],
    ['test files > 300', `${above(tests.map(linesOf), 300)}`],
  ]
}

function types(): string[][] {
  const thrown = matches(sources, /\bthrow \w/g, code)
  const bare = matches(sources, /\bthrow new Error\(/g, code)
  return [
    [
      'any / `as` per 1,000 lines / `!` / ignores',
      [
        matches(sources, /[:<(] ?any\b(?=[\s,;)>[])/g, code),
        perKloc(
          matches(sources, /(?<!import \*|\w\*) as (?!const\b)[A-Z{(\w]+/g, (file) => asserted(code(file))),
        ),
        matches(sources, /[\w)\]]!(?=[.;,)\]\n])/g, code),
        matches(sources, /biome-ignore|@ts-(?:ignore|expect-error)/g),
      ].join(' / '),
    ],
    ['bare throws', `${((100 * bare) / thrown).toFixed(1)} % of ${thrown}`],
  ]
}

/** Without imports, exports, strings and SQL, whose `as` is no assertion. */
const asserted = (text: string) =>
  text
    .replaceAll(/^(?:import|export) [\s\S]*?from '.*'$/gm, '')
    .replaceAll(/`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'/g, "''")

function comments(): string[][] {
  const first = matches(all, /\/\*\*/g)
  const begun = (words: string) => matches(all, new RegExp(`/\\*\\*\\s*(?:\\* )?(?:${words})\\b`, 'g'))
  return [
    ['comments begun with What; Of, Who', `${begun('What')}; ${begun('Of|Who')} of ${first}`],
    ['words: README; ARCHITECTURE', ['README.md', 'ARCHITECTURE.md'].map(words).join('; ')],
  ]
}

const words = (page: string) => read(page).split(/\s+/).filter(Boolean).length

function prose(): string[][] {
  const pages = prosePages.map(readProse)
  const total = sum(pages.map((page) => page.words))
  const share = (count: (page: (typeof pages)[number]) => number) =>
    perThousand(sum(pages.map(count)), total).toFixed(1)
  return [
    [
      'per 1,000 words of pages: no noun / if / passive / you',
      [
        share(({ nounless }) => nounless.length),
        share(({ conditions }) => conditions),
        share(({ passives }) => passives.length),
        share(({ reader }) => reader),
      ].join(' / '),
    ],
  ]
}

function rooms(): string[][] {
  const whole = linesIn(sources)
  const biggest = Object.entries(Object.groupBy(sources, (file) => file.split('/')[0] ?? ''))
    .map(([room, files = []]) => [room, (100 * linesIn(files)) / whole] as const)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 4)
  const folders = Map.groupBy(
    all.filter((file) => !isTest(file) || file.startsWith('test/')),
    dirname,
  )
  const full = [...folders].filter(([, files]) => files.length > 20).map(([folder]) => folder)
  const builders = (room: string) => {
    const files = sources.filter((file) => file.startsWith(`${room}/`))
    const calls = matches(files, /\.(?:selectFrom|insertInto|updateTable|deleteFrom|with)\(/g, code)
    return `${room} ${calls} : ${matches(files, /\bsql(?:<[^`]*>)?`/g, code)}`
  }
  return [
    ['biggest rooms', biggest.map(([room, share]) => `${room} ${share.toFixed(1)} %`).join(', ')],
    ['folders over 20 files', full.join(', ') || '0'],
    ['builder calls : `sql` texts', ['webhooks', 'rows'].map(builders).join(', ')],
  ]
}

const rows = [...sizes(), ...types(), ...comments(), ...prose(), ...rooms()]
process.stdout.write(`| | |\n|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`)

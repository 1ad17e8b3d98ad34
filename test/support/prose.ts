/**
 * The pages' prose, counted: `node test/support/prose.ts` prints, per 1,000 words of each page, subjects
 * without a noun, conditions, passives and the reader.
 */
import { glob, read } from './projectFiles.ts'

interface Prose {
  readonly words: number
  /** "what", "nobody", "nothing" and the like, each in its context. */
  readonly nounless: readonly string[]
  readonly conditions: number
  readonly passives: readonly string[]
  readonly reader: number
}

/** The pages that explain: a change log tells what was. */
export const prosePages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...glob('docs/**/*.md')]

const nounless = /\b(?:what|whatever|whoever|nobody|nothing|none)\b/gi
/** "who" is a subject of its own at a clause's start; behind a noun it points at that. */
const bareWho = /(?<=^|[.:;,?!(|]\s*|\b(?:and|or|but|of|to|by|from|with|says?|shows?|names?)\s)who\b/gim
const participle =
  '(?:[a-z]{2,}ed|made|done|sent|paid|held|kept|told|given|taken|written|read|known|shown|sold|bought|' +
  'found|left|lost|met|put|built|begun|drawn|seen|set|spent|understood|hidden|chosen|spoken|broken|proven|run)'
const passive = new RegExp(
  `\\b(?:is|are|was|were|be|been|being)(?: (?:not|never|also|then|only|all))? ${participle}\\b`,
  'gi',
)

/** Text without code, HTML, addresses of links, and the labels of decisions ("**What.**"). */
export function proseOf(page: string): string {
  return page
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/<!--[\s\S]*?-->|<[a-z/][^>]*>/g, '')
    .replaceAll(/`[^`\n]+`/g, 'X')
    .replaceAll(/\]\([^)\s]+\)/g, ']')
    .replaceAll(/^\*\*What\.\*\*/gm, '')
    .replaceAll(/^\|[-| :]+\|$/gm, '')
}

export function countProse(text: string): Prose {
  const found = (pattern: RegExp) =>
    [...text.matchAll(pattern)].map(({ 0: word, index }) =>
      text.slice(Math.max(0, index - 30), index + word.length + 30).replaceAll(/\s+/g, ' '),
    )
  return {
    words: text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0,
    nounless: [...found(nounless), ...found(bareWho)],
    conditions: found(/\bif\b/gi).length,
    passives: found(passive),
    reader: found(/\byou(?:rs?|rself)?\b/gi).length,
  }
}

export const readProse = (file: string) => countProse(proseOf(read(file)))

export const perThousand = (count: number, words: number) => (1_000 * count) / words

function printed(): string {
  const pages = prosePages.map((file) => [file, readProse(file)] as const)
  const sum = (count: (prose: Prose) => number) => pages.reduce((all, [, prose]) => all + count(prose), 0)
  const line = (name: string, words: number, ...counts: number[]) =>
    [name.padEnd(24), words, ...counts.map((count) => perThousand(count, words).toFixed(1))].join('\t')
  return [
    ['per 1,000 words of'.padEnd(24), 'words', 'no noun', 'if', 'passive', 'you'].join('\t'),
    ...pages.map(([file, prose]) =>
      line(file, prose.words, prose.nounless.length, prose.conditions, prose.passives.length, prose.reader),
    ),
    line(
      'all',
      sum(({ words }) => words),
      sum((prose) => prose.nounless.length),
      sum(({ conditions }) => conditions),
      sum((prose) => prose.passives.length),
      sum(({ reader }) => reader),
    ),
  ].join('\n')
}

if (import.meta.main) process.stdout.write(`${printed()}\n`)

/** Words for the same wish, and narrower words for a broader one: `concepts.txt` says how to read it. */
import { wordsOf } from '../words.ts'
import { stopWords } from './functionWords.ts'
import { partsOf, readLines } from './readLines.ts'

export interface TargetWords {
  readonly words: readonly string[]
  /** Whether it means much else too. */
  readonly isGeneral: boolean
}

/** A phrase that asks for a concept, and the phrases that it finds. */
export interface Asker {
  readonly words: readonly string[]
  readonly finds: readonly TargetWords[]
  /** Whether it is a word for the thing itself, rather than for something of that kind. */
  readonly isSame: boolean
}

interface Concept {
  readonly named: readonly string[]
  /** Found, but too general to ask for the others. */
  readonly found: readonly string[]
  readonly narrower: string[]
}

function bare(name: string): string {
  return name.replace(/^\((.*)\)$/, '$1')
}

const concepts = readConcepts(readLines('concepts.txt'))

function readConcepts(lines: readonly string[]): Concept[] {
  const byName = new Map<string, Concept>()
  for (const line of lines) {
    const [broad = '', narrow = ''] = line.split(' < ')
    const [name = '', ...others] = partsOf(broad, ',')
    const narrower = partsOf(narrow, ',')
    const before = others.length === 0 ? byName.get(bare(name)) : undefined
    if (before) before.narrower.push(...narrower)
    else byName.set(bare(name), { ...namesOf([name, ...others]), narrower })
  }
  return [...byName.values()]
}

function namesOf(names: readonly string[]) {
  const named = names.filter((name) => bare(name) === name)
  return { named, found: names.filter((name) => bare(name) !== name).map(bare) }
}

const askers = concepts.flatMap(({ named, found, narrower }): Asker[] => {
  const finds = distinct([
    ...named.map((name) => ({ words: wordsOf(name), isGeneral: false })),
    ...found.map((name) => ({ words: wordsOf(name), isGeneral: true })),
  ])
  const asker = (phrase: string, isSame: boolean): Asker => {
    const words = wordsOf(phrase)
    return { words, isSame, finds: finds.filter((each) => each.words.join(' ') !== words.join(' ')) }
  }
  return [...named.map((name) => asker(name, true)), ...narrower.map((phrase) => asker(phrase, false))]
})

function distinct(targets: readonly TargetWords[]): TargetWords[] {
  return [...new Map(targets.map((target) => [target.words.join(' '), target])).values()]
}

const isTelling = (word: string) => !stopWords.has(word)

/** Phrases that say nothing by any of their words would be in every question. */
const telling = askers.filter(({ words }) => words.some(isTelling))

/** Phrases with two telling words and more are known without the others; `how hot` needs both. */
const isLoose = (words: readonly string[]) => words.filter(isTelling).length > 1
const byFirstTelling = Map.groupBy(
  telling
    .filter(({ words }) => isLoose(words))
    .map((asker) => ({ ...asker, words: asker.words.filter(isTelling) })),
  ({ words }) => words[0] ?? '',
)
const byFirst = Map.groupBy(
  telling.filter(({ words }) => !isLoose(words)),
  ({ words }) => words[0] ?? '',
)

/** Every word that a phrase of the lexicon asks with. */
export const askingWords: ReadonlySet<string> = new Set(
  askers.flatMap(({ words }) => words).filter(isTelling),
)

/** A phrase in a text, with the places of its words. */
export interface FoundPhrase extends Asker {
  readonly places: readonly number[]
}

/** Words that may stand between two telling words of a phrase. */
const GAP_MAX = 1

/** All phrases that a text of words asks with. */
export function askersIn(words: readonly string[]): FoundPhrase[] {
  const tellingWords = words.flatMap((word, place) => (isTelling(word) ? [{ word, place }] : []))
  const loose = tellingWords.flatMap(({ word }, start) =>
    (byFirstTelling.get(word) ?? []).flatMap((asker) => {
      const places = looselyAt(asker.words, tellingWords, start)
      return places ? [{ ...asker, places }] : []
    }),
  )
  const exact = words.flatMap((word, start) =>
    (byFirst.get(word) ?? [])
      .filter((asker) => asker.words.every((each, offset) => words[start + offset] === each))
      .map((asker) => ({ ...asker, places: asker.words.map((_, offset) => start + offset) })),
  )
  return [...loose, ...exact]
}

function looselyAt(
  phrase: readonly string[],
  telling: readonly { readonly word: string; readonly place: number }[],
  start: number,
): number[] | null {
  const places: number[] = []
  let at = start
  for (const word of phrase) {
    const next = telling.slice(at, at + (places.length === 0 ? 1 : GAP_MAX + 1))
    const skipped = next.findIndex((each) => each.word === word)
    const found = next[skipped]
    if (!found) return null
    places.push(found.place)
    at += skipped + 1
  }
  return places
}

/** A question as slots: each a word, and the words that would do for it. */

import { askersIn, askingWords } from '../lexicon/concepts.ts'
import { deeds, stopWords } from '../lexicon/functionWords.ts'
import { compoundsOf, compoundVariants } from './compounds.ts'
import type { AskedWord, Slot, Variant, Vocabulary } from './question.ts'
import { editsAllowed, spellingSimilarity } from './spelling.ts'

const SLOTS_MAX = 24

const SAME_WEIGHT = 0.85
const NARROWER_WEIGHT = 0.75
/** A target that means much else too. */
const GENERAL_SHARE = 0.6
/** Deeds say less than what they are done to. */
const DEED_SHARE = 0.6
/** A word that says something in its phrase alone: the `who` of `who owns`. */
const PHRASE_WORD_SHARE = 0.4
/** A word that no endpoint has; a name is part of the input, rather than of what is looked for. */
const UNKNOWN_SHARE = 0.8
const NAME_SHARE = 0.3
/** A second and third word that may have been meant. */
const OTHER_SPELLING_SHARE = 0.7

/** Words that may be a typing mistake: neither the catalog nor the lexicon has them. */
export function unknownWords(words: readonly AskedWord[], { counts }: Vocabulary): string[] {
  const isKnown = (word: string) => counts.has(word) || askingWords.has(word) || stopWords.has(word)
  return distinct(
    words.flatMap(({ word, written, isName }) =>
      written.length > 0 || isName || isKnown(word) || editsAllowed(word) === 0 ? [] : [word],
    ),
  )
}

/** Words that an unknown one may have meant. */
const SPELLINGS_MAX = 3

/** The words with what each unknown one may have meant: words of the catalog, and of the lexicon. */
export function spelled(
  words: readonly AskedWord[],
  catalogWords: ReadonlyMap<string, readonly string[]>,
): AskedWord[] {
  return words.map((asked) => {
    const inCatalog = catalogWords.get(asked.word)
    if (!inCatalog) return asked
    const near = distinct([...askingWords, ...inCatalog])
      .map((word) => ({ word, similarity: spellingSimilarity(asked.word, word) }))
      .filter(({ similarity }) => similarity > 0)
      .sort((a, b) => b.similarity - a.similarity)
    return { ...asked, spellings: near.slice(0, SPELLINGS_MAX) }
  })
}

/** The word to look up in the lexicon. */
const meantBy = ({ word, spellings }: AskedWord): string => spellings[0]?.word ?? word

/** Every word that the catalog is asked about. */
export function wordsAskedOf(words: readonly AskedWord[]): string[] {
  const own = words.flatMap(({ word, written, spellings }) => [
    word,
    ...written,
    ...spellings.map((spelling) => spelling.word),
  ])
  const aliases = askersIn(words.map(meantBy)).flatMap(({ finds }) => finds.flatMap((target) => target.words))
  const compounds = compoundsOf(words).flatMap(({ words: parts }) => parts)
  return distinct([...own, ...aliases, ...compounds])
}

export function slotsOf(words: readonly AskedWord[], vocabulary: Vocabulary): Slot[] {
  const aliases = aliasesOf(words)
  const compounds = compoundVariants(words, vocabulary)
  const slotAt = (place: number, asked: AskedWord) =>
    slotOf(asked, [...(compounds.get(place) ?? []), ...(aliases.get(place)?.variants ?? [])], vocabulary)
  const all = words.map((asked, place) => slotAt(place, asked))
  const telling = all.filter((_, place) => !words[place]?.isStop || aliases.get(place)?.isPhrase)
  const slots = new Map<string, Slot>()
  for (const slot of telling.length > 0 ? telling : all) {
    const before = slots.get(slot.word)
    slots.set(slot.word, before ? merged(before, slot) : slot)
  }
  return [...slots.values()].sort((a, b) => b.weight - a.weight).slice(0, SLOTS_MAX)
}

function slotOf(asked: AskedWord, more: readonly Variant[], vocabulary: Vocabulary): Slot {
  const { word, written, spellings, importance } = asked
  const variants = distinctVariants([
    { words: [word], weight: 1, kind: 'own' },
    ...(written.length > 0 ? [{ words: written, weight: 1, kind: 'own' as const }] : []),
    ...more,
    ...spellings.map((spelling, index) => ({
      words: [spelling.word],
      weight: spelling.similarity * (index === 0 ? 1 : OTHER_SPELLING_SHARE),
      kind: 'alike' as const,
    })),
  ])
  return { word, variants, weight: weightOf(asked, variants, vocabulary) * importance }
}

const merged = (a: Slot, b: Slot): Slot => ({
  word: a.word,
  variants: distinctVariants([...a.variants, ...b.variants]),
  weight: Math.max(a.weight, b.weight),
})

function weightOf(
  { word, isName, isStop }: AskedWord,
  variants: readonly Variant[],
  vocabulary: Vocabulary,
): number {
  const countOf = ({ words }: Variant) => Math.min(...words.map((each) => vocabulary.counts.get(each) ?? 0))
  const own = vocabulary.counts.get(word) ?? 0
  const most = Math.max(...variants.map(countOf))
  if (most === 0) return rarityOf(0, vocabulary) * (isName ? NAME_SHARE : UNKNOWN_SHARE)
  return (
    rarityOf(own > 0 ? own : vocabulary.endpointCount * USUAL_SHARE, vocabulary) *
    (isStop ? PHRASE_WORD_SHARE : deeds.has(word) ? DEED_SHARE : 1)
  )
}

/** The share of endpoints that have a usual word: what a word that has only aliases there counts as. */
const USUAL_SHARE = 1 / 40
/** Words of fewer endpoints say no more. */
const RARE_SHARE = 1 / 300

/** BM25's inverse frequency, between 1 and some 6. */
function rarityOf(endpoints: number, { endpointCount }: Vocabulary): number {
  const count = Math.max(endpoints, endpointCount * RARE_SHARE)
  return Math.log(1 + (endpointCount - Math.min(count, endpointCount) + 0.5) / (count + 0.5)) + 0.5
}

interface Aliases {
  readonly variants: readonly Variant[]
  /** Whether the word is part of a phrase, which says something even where the word does not. */
  readonly isPhrase: boolean
}

/** The lexicon's aliases for the words at each place. */
function aliasesOf(words: readonly AskedWord[]): ReadonlyMap<number, Aliases> {
  const aliases = new Map<number, Aliases>()
  for (const { places, finds, isSame } of askersIn(words.map(meantBy))) {
    const weight = isSame ? SAME_WEIGHT : NARROWER_WEIGHT
    const found = finds.map(
      (target): Variant => ({
        words: target.words,
        weight: target.isGeneral ? weight * GENERAL_SHARE : weight,
        kind: 'alias',
      }),
    )
    for (const place of places) {
      const before = aliases.get(place)
      aliases.set(place, {
        variants: [...(before?.variants ?? []), ...found],
        isPhrase: places.length > 1 || (before?.isPhrase ?? false),
      })
    }
  }
  return aliases
}

/** The heaviest of equal ones. */
function distinctVariants(variants: readonly Variant[]): Variant[] {
  const byWords = new Map<string, Variant>()
  for (const variant of variants) {
    const key = variant.words.join(' ')
    const before = byWords.get(key)
    if (!before || before.weight < variant.weight) byWords.set(key, variant)
  }
  return [...byWords.values()]
}

const distinct = (words: readonly string[]): string[] => [...new Set(words)]

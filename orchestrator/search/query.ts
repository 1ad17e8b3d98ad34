/** What was asked, as slots: each a word, and the words that would do for it. */
import { phrasesAt, phrasesOfGroup } from './synonyms.ts'
import { stopWords, wordsOf } from './words.ts'

/**
 * A word that would do for a slot. `own`: as asked; `alias`: by a phrase of the same meaning;
 * `alike`: spelled alike.
 */
export interface Variant {
  /** A phrase counts as far as all of it is there. */
  readonly words: readonly string[]
  /** 0 to 1: how much of the slot it fills. */
  readonly weight: number
  readonly kind: 'own' | 'alias' | 'alike'
}

export interface Slot {
  readonly word: string
  readonly variants: readonly Variant[]
  /** Its share of the question; rare words say more. */
  readonly weight: number
}

/** Questions are short; more words than this say nothing new. */
const SLOTS_MAX = 24
const ALIAS_WEIGHT = 0.85
const STOP_WORD_WEIGHT = 0.1
/**
 * A word that no endpoint has: a name that is part of the input, rather than of what is looked for.
 */
const UNKNOWN_WEIGHT = 0.35

/**
 * In how many of the catalog's endpoints a word is, and words of the catalog spelled like an
 * unknown one.
 */
export interface Vocabulary {
  readonly endpointCount: number
  readonly counts: ReadonlyMap<string, number>
  readonly alike: ReadonlyMap<string, readonly { readonly word: string; readonly similarity: number }[]>
}

/**
 * The distinct words of a question, the words of its aliases with them: what the vocabulary is
 * asked for.
 */
export function askedWords(query: string): { readonly own: string[]; readonly aliases: string[] } {
  const own = [...new Set(wordsOf(query))].slice(0, SLOTS_MAX)
  const aliases = [...aliasVariants(own).values()].flat().flatMap(({ words }) => words)
  return { own, aliases: [...new Set(aliases)].filter((word) => !own.includes(word)) }
}

export function slotsOf(query: string, vocabulary: Vocabulary): Slot[] {
  const words = [...new Set(wordsOf(query))].slice(0, SLOTS_MAX)
  const aliases = aliasVariants(words)
  const telling = words.filter((word) => !stopWords.has(word))
  return words.map((word) => {
    const alike = (vocabulary.alike.get(word) ?? []).map(({ word: other, similarity }) => ({
      words: [other],
      weight: similarity,
      kind: 'alike' as const,
    }))
    const variants: Variant[] = [
      { words: [word], weight: 1, kind: 'own' },
      ...(aliases.get(word) ?? []),
      ...alike,
    ]
    const isKnown = variants.some(({ words: some }) =>
      some.every((each) => (vocabulary.counts.get(each) ?? 0) > 0),
    )
    const rarity = rarityOf(word, vocabulary) * (isKnown ? 1 : UNKNOWN_WEIGHT)
    const isStop = stopWords.has(word) && telling.length > 0
    return { word, variants, weight: isStop ? rarity * STOP_WORD_WEIGHT : rarity }
  })
}

/** BM25's inverse frequency, between 1 and some 10. */
export function rarityOf(word: string, { counts, endpointCount }: Vocabulary): number {
  const count = counts.get(word) ?? 0
  return Math.log(1 + (endpointCount - Math.min(count, endpointCount) + 0.5) / (count + 0.5)) + 0.5
}

/** The other phrases of a group, for each word of a phrase that was asked. */
function aliasVariants(words: readonly string[]): ReadonlyMap<string, Variant[]> {
  const variants = new Map<string, Variant[]>()
  for (let index = 0; index < words.length; index++) {
    for (const { words: phrase, group } of phrasesAt(words, index)) {
      const others = (phrasesOfGroup[group] ?? []).filter((other) => other !== phrase)
      for (const word of phrase) {
        const fresh = others.map((other) => ({ words: other, weight: ALIAS_WEIGHT, kind: 'alias' as const }))
        variants.set(word, [...(variants.get(word) ?? []), ...fresh])
      }
    }
  }
  return variants
}

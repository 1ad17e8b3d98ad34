/** Two words written as one, and one as two: `web page` and `webpage`. */
import { askingWords } from '../lexicon/concepts.ts'
import { stopWords } from '../lexicon/functionWords.ts'
import { stemOf } from '../words.ts'
import type { AskedWord, Variant, Vocabulary } from './question.ts'

interface Compound {
  readonly places: readonly number[]
  readonly words: readonly string[]
}

const PART_CHARACTERS_MIN = 3
/** A compound fills the places of its parts nearly as they would. */
const COMPOUND_WEIGHT = 0.9

/** Every way to join two words of a question, or to take one apart. */
export function compoundsOf(words: readonly AskedWord[]): Compound[] {
  return words.flatMap(({ word, whole, isStop, isName }, place): Compound[] => {
    if (isStop || isName) return []
    const next = words[place + 1]
    const joined =
      next && !next.isStop ? [{ places: [place, place + 1], words: [stemOf(`${whole}${next.whole}`)] }] : []
    // A word that the lexicon has needs no taking apart.
    if (askingWords.has(word)) return joined
    return [...joined, ...splitsOf(whole).map((parts) => ({ places: [place], words: parts }))]
  })
}

function splitsOf(word: string): string[][] {
  // Two short parts are in many words by chance.
  const cuts = Array.from({ length: Math.max(0, word.length - 2 * PART_CHARACTERS_MIN + 1) })
  return cuts
    .map((_, index) => [word.slice(0, index + PART_CHARACTERS_MIN), word.slice(index + PART_CHARACTERS_MIN)])
    .filter(
      (parts) =>
        parts.some((part) => part.length > PART_CHARACTERS_MIN) && !parts.some((part) => stopWords.has(part)),
    )
    .map((parts) => parts.map(stemOf))
}

/** Compounds that are the catalog's words, as variants of places of a question. */
export function compoundVariants(
  words: readonly AskedWord[],
  { counts }: Vocabulary,
): ReadonlyMap<number, readonly Variant[]> {
  const variants = new Map<number, Variant[]>()
  for (const { places, words: parts } of compoundsOf(words)) {
    const isKnown = parts.every((part) => (counts.get(part) ?? 0) > 0)
    const isNeeded = parts.length === 1 || (counts.get(words[places[0] ?? 0]?.word ?? '') ?? 0) === 0
    if (!isKnown || !isNeeded) continue
    for (const place of places)
      variants.set(place, [
        ...(variants.get(place) ?? []),
        { words: parts, weight: COMPOUND_WEIGHT, kind: 'own' },
      ])
  }
  return variants
}

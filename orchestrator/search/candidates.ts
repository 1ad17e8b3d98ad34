/** Endpoints that may be what was asked for, found by the words of a question. */
import { findCandidates } from '#rows/catalog/catalogCandidates.ts'
import type { AppDatabase } from '#rows/database.ts'
import { stopWords } from './lexicon/functionWords.ts'
import type { Slot, Vocabulary } from './question/question.ts'

/**
 * Candidates of the whole question, and of each of its rarest words: a common word must not crowd
 * them out.
 */
const CANDIDATES_MAX = 200
const RARE_WORDS_MAX = 4
const CANDIDATES_PER_RARE_WORD = 60
/** Endpoints that the database ranks for a question, at some 5 µs each. */
const RANKED_MAX = 1_500
/** Numbers of endpoints, the whole catalog's first ones where nothing was asked. */
export async function candidatesOf(
  app: AppDatabase,
  slots: readonly Slot[],
  vocabulary: Vocabulary,
  serviceIds: readonly string[] | null,
): Promise<number[]> {
  const known = slots.filter((slot) => knownPhrases(slot, vocabulary).length > 0)
  const telling = known.filter(({ word }) => !stopWords.has(word))
  const asked = telling.length > 0 ? telling : known
  const phrases = asked.map((slot) => knownPhrases(slot, vocabulary))
  const all = phrases.flat()
  if (slots.length > 0 && all.length === 0) return []
  const whole = await findCandidates(app, {
    queries: all.length > 0 ? [queryOf(narrowed(all, vocabulary), all)] : [],
    limitPerQuery: CANDIDATES_MAX,
    serviceIds,
  })
  if (whole.length < CANDIDATES_MAX) return whole
  const own = asked.map(({ word }) => [word]).filter((phrase) => countOf(phrase, vocabulary) > 0)
  // Aliases must not crowd out what has the very words; without any these are the whole again.
  const parts = [own.length < all.length ? own : [], ...phrases.slice(0, RARE_WORDS_MAX)]
  const queries = parts
    .filter((some) => some.length > 0)
    .map((some) => queryOf(narrowed(some, vocabulary), some))
  return [
    ...whole,
    ...(await findCandidates(app, { queries, limitPerQuery: CANDIDATES_PER_RARE_WORD, serviceIds })),
  ]
}

type Phrase = readonly string[]

const countOf = (phrase: Phrase, { counts }: Vocabulary) =>
  Math.min(...phrase.map((word) => counts.get(word) ?? 0))

const knownPhrases = (slot: Slot, vocabulary: Vocabulary): Phrase[] =>
  slot.variants.map(({ words }) => words).filter((phrase) => countOf(phrase, vocabulary) > 0)

const queryOf = (matches: readonly Phrase[], ranks: readonly Phrase[]) => ({
  matches: tsquery(matches),
  ranks: tsquery(ranks),
})

/**
 * The rarest phrases, as long as few endpoints have them: those that have a common one alone are no
 * answer where others have a rare one, and ranking them all takes longer than all else.
 */
function narrowed(phrases: readonly Phrase[], vocabulary: Vocabulary): readonly Phrase[] {
  const [rarest = [], ...others] = phrases.toSorted((a, b) => countOf(a, vocabulary) - countOf(b, vocabulary))
  const kept = [rarest]
  let endpoints = countOf(rarest, vocabulary)
  for (const phrase of others) {
    endpoints += countOf(phrase, vocabulary)
    if (endpoints > RANKED_MAX) break
    kept.push(phrase)
  }
  return kept
}

/** Words are letters and digits, which need no escape. */
const tsquery = (phrases: readonly Phrase[]): string =>
  [...new Set(phrases.map((words) => words.map((word) => `'${word}'`).join(' & ')))].join(' | ')

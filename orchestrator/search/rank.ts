/**
 * The one ranker behind every door: how well an endpoint does what was asked, why, and what its
 * price adds. Pure; the candidates and the vocabulary come from the store.
 */
import type { Slot } from './question/question.ts'
import { wordsOf } from './words.ts'

export type Reason =
  | 'alias_match'
  | 'capability_match'
  | 'catalog_default'
  | 'description_match'
  | 'example_match'
  | 'identity_match'
  | 'operation_match'
  | 'schema_match'
  | 'semantic_match'

/** Texts of an endpoint by what they are of, as words. */
export interface SearchFields {
  /** The service's id and name, provider and host. */
  readonly identity: readonly string[]
  readonly alias: readonly string[]
  /** Capabilities, tags and categories. */
  readonly capability: readonly string[]
  /** The words of its path, and its method's verb. */
  readonly operation: readonly string[]
  readonly description: readonly string[]
  readonly example: readonly string[]
  readonly schema: readonly string[]
  /** The words by which its service describes itself. */
  readonly service: readonly string[]
}

export type SearchField = keyof SearchFields

/** How much of a word's weight a match counts, by where it is; the reason that it gives. */
const fieldRules: readonly (readonly [SearchField, number, Reason])[] = [
  ['alias', 1, 'alias_match'],
  ['identity', 0.85, 'identity_match'],
  ['capability', 0.85, 'capability_match'],
  ['operation', 1, 'operation_match'],
  ['description', 0.95, 'description_match'],
  ['example', 0.9, 'example_match'],
  ['service', 0.7, 'description_match'],
  ['schema', 0.5, 'schema_match'],
]

/** Parts of relevance: what of the question is met, and how little else the endpoint is about. */
const COVERAGE_SHARE = 0.7
/** A word met in several places is meant: each further one fills this share of what is open. */
const CONFIRMATION = 0.15

export interface Relevance {
  /** 0 to 1. */
  readonly relevance: number
  readonly reasons: readonly Reason[]
  /** Whether it is a call that goes along with others, and was not asked for as such. */
  readonly isAside: boolean
}

/** The words of an endpoint, each once, with the fields that have it. */
export interface Terms {
  readonly words: readonly string[]
  /** A bit for each field, in the order of `fieldRules`. */
  readonly fields: Uint8Array
  /** Names run words together: `openweather` is about weather. */
  readonly names: readonly string[]
  /** Words of calls that go along with the one that does the work: its status, its end. */
  readonly asides: readonly string[]
}

export function termsOf(fields: SearchFields): Terms {
  const bits = new Map<string, number>()
  for (const [index, [field]] of fieldRules.entries())
    for (const word of fields[field]) bits.set(word, (bits.get(word) ?? 0) | (1 << index))
  const own = [...fields.operation, ...fields.description]
  return {
    words: [...bits.keys()],
    fields: Uint8Array.from(bits.values()),
    names: fields.identity,
    asides: [...new Set(own)].filter((word) => asideWords.has(word)),
  }
}

const asideWords = new Set(
  wordsOf(
    'status poll cancel delete terminate update extend topup webhook batch bulk confirm count coverage metadata retrieve logs signers settings history restart',
  ),
)

/** A question as the ranker takes it: its words by number. */
export interface Question {
  readonly slots: readonly Slot[]
  readonly numbers: ReadonlyMap<string, number>
  readonly words: readonly string[]
  /** Numbers of the words as asked, which may stand inside a name. */
  readonly named: readonly number[]
  /** The weight that fills a question: that of its heaviest words. */
  readonly asked: number
}

/** Shorter words are inside of many names by chance. */
const INSIDE_CHARACTERS_MIN = 4
/** Words that a wish is made of; further ones tell about it. */
const WISH_WORDS = 5

export function questionOf(slots: readonly Slot[]): Question {
  const words = [...new Set(slots.flatMap(({ variants }) => variants.flatMap((each) => each.words)))]
  const numbers = new Map(words.map((word, number) => [word, number]))
  const heaviest = slots.map(({ weight }) => weight).sort((a, b) => b - a)
  return {
    slots,
    words,
    numbers,
    named: slots
      .map(({ word }) => word)
      .filter((word) => word.length >= INSIDE_CHARACTERS_MIN)
      .map((word) => numbers.get(word) ?? 0),
    asked: heaviest.slice(0, WISH_WORDS).reduce((sum, weight) => sum + weight, 0),
  }
}

/** Fields that say what an endpoint itself does. */
const OWN_FIELDS = fieldBits(['operation', 'description'])
const IDENTITY = fieldBits(['identity'])

function fieldBits(names: readonly SearchField[]): number {
  return fieldRules.reduce((bits, [field], index) => (names.includes(field) ? bits | (1 << index) : bits), 0)
}

export function relevanceOf(question: Question, terms: Terms): Relevance {
  const { slots, numbers, asked } = question
  const present = presentIn(question, terms)
  const matched = new Map<number, number>()
  const reasons = new Set<Reason>()
  let met = 0
  for (const slot of slots) met += slot.weight * fillOf(slot, numbers, present, reasons, matched)
  if (asked === 0 || met === 0) return { relevance: 0, reasons: [], isAside: false }
  const covered = Math.min(1, met / asked)
  const relevance = covered * (COVERAGE_SHARE + (1 - COVERAGE_SHARE) * focusOf(question, terms, matched))
  const isAside = terms.asides.some((word) => !matched.has(numbers.get(word) ?? -1))
  return { relevance, reasons: [...reasons].sort(), isAside }
}

/** For each word of the question the fields that have it. */
function presentIn({ numbers, words, named }: Question, terms: Terms): Uint8Array {
  const present = new Uint8Array(words.length)
  for (let index = 0; index < terms.words.length; index++) {
    const number = numbers.get(terms.words[index] ?? '')
    if (number !== undefined) present[number] = terms.fields[index] ?? 0
  }
  for (const number of named)
    if (terms.names.some((name) => name.includes(words[number] ?? '')))
      present[number] = (present[number] ?? 0) | IDENTITY
  return present
}

/** How little else the endpoint is about. */
function focusOf({ numbers }: Question, terms: Terms, matched: ReadonlyMap<number, number>): number {
  let own = 0
  let met = 0
  for (let index = 0; index < terms.words.length; index++) {
    if (((terms.fields[index] ?? 0) & OWN_FIELDS) === 0) continue
    own++
    const number = numbers.get(terms.words[index] ?? '')
    if (number !== undefined) met += matched.get(number) ?? 0
  }
  return Math.sqrt(met / Math.max(own, 1))
}

/** A phrase whose words are in several places. */
const SCATTERED = 0.6

/** 0 to 1: how much of a slot an endpoint fills. */
function fillOf(
  slot: Slot,
  numbers: ReadonlyMap<string, number>,
  present: Uint8Array,
  reasons: Set<Reason>,
  matched: Map<number, number>,
): number {
  const fills: number[] = []
  for (const [index, [, weight, reason]] of fieldRules.entries()) {
    let best = 0
    for (const variant of slot.variants) {
      if (variant.weight * weight <= best) continue
      let inField = true
      let anywhere = true
      let here = false
      for (const word of variant.words) {
        const fields = present[numbers.get(word) ?? 0] ?? 0
        if (fields === 0) anywhere = false
        if ((fields & (1 << index)) === 0) inField = false
        else here = true
      }
      const fill = variant.weight * weight * (inField ? 1 : anywhere && here ? SCATTERED : 0)
      if (fill <= best) continue
      best = fill
      for (const word of variant.words) {
        const number = numbers.get(word) ?? 0
        matched.set(number, Math.max(matched.get(number) ?? 0, variant.weight))
      }
      reasons.add(
        variant.kind === 'alias' ? 'alias_match' : variant.kind === 'alike' ? 'semantic_match' : reason,
      )
    }
    if (best > 0) fills.push(best)
  }
  fills.sort((a, b) => b - a)
  return fills.reduce(
    (filled, fill, index) => (index === 0 ? fill : filled + (1 - filled) * fill * CONFIRMATION),
    0,
  )
}

/**
 * The share of the score that relevance decides; below the threshold it decides all (the
 * reference's formula).
 */
const RELEVANCE_SHARE = 0.95
const LOW_RELEVANCE = 0.2

export const scoreOf = (relevance: number, price: number): number =>
  relevance < LOW_RELEVANCE ? relevance : RELEVANCE_SHARE * relevance + (1 - RELEVANCE_SHARE) * price

/**
 * 0.01 / (0.01 + price), cut to six digits; one half for a price that is not known. `units` of
 * `decimals` digits.
 */
export function priceScore(price: { readonly units: bigint; readonly decimals: number } | null): number {
  if (price === null) return 0.5
  const scale = 10n ** BigInt(price.decimals)
  // Both sides times 100 and the scale: scale / (scale + 100 units), in millionths.
  return Number((1_000_000n * scale) / (scale + 100n * price.units)) / 1_000_000
}

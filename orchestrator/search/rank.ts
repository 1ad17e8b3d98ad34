/**
 * The one ranker behind every door: how well an endpoint does what was asked, why, and what its
 * price adds. Pure; the candidates and the vocabulary come from the store.
 */
import type { Slot } from './query.ts'

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
  /** What its service says of itself. */
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
/** What is met in several places is meant: each further one fills this share of what is open. */
const CONFIRMATION = 0.15

export interface Relevance {
  /** 0 to 1. */
  readonly relevance: number
  readonly reasons: readonly Reason[]
}

export function relevanceOf(slots: readonly Slot[], fields: SearchFields): Relevance {
  const reasons = new Set<Reason>()
  let met = 0
  let asked = 0
  const matched = new Set<string>()
  for (const slot of slots) {
    asked += slot.weight
    met += slot.weight * fillOf(slot, fields, reasons, matched)
  }
  if (asked === 0 || met === 0) return { relevance: 0, reasons: [] }
  const own = new Set([...fields.operation, ...fields.description])
  const focus = Math.sqrt([...own].filter((word) => matched.has(word)).length / Math.max(own.size, 1))
  const relevance = (met / asked) * (COVERAGE_SHARE + (1 - COVERAGE_SHARE) * focus)
  return { relevance: Math.min(1, relevance), reasons: [...reasons].sort() }
}

/** 0 to 1: how much of a slot an endpoint fills. */
function fillOf(slot: Slot, fields: SearchFields, reasons: Set<Reason>, matched: Set<string>): number {
  const fills: number[] = []
  for (const [field, weight, reason] of fieldRules) {
    let best = 0
    for (const variant of slot.variants) {
      const fill = variant.weight * weight
      if (fill <= best) continue
      const share = shareOf(variant.words, field, fields)
      if (share * fill <= best) continue
      best = share * fill
      for (const word of variant.words) matched.add(word)
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

/** Names run words together: `openweather` is about weather. */
const INSIDE_NAME = 0.85
const INSIDE_CHARACTERS_MIN = 4

/**
 * 1 for a word or phrase that is there; a part of a phrase counts little, for it may mean something
 * else.
 */
function shareOf(words: readonly string[], field: SearchField, fields: SearchFields): number {
  const texts = fields[field]
  let there = 0
  for (const word of words) {
    if (texts.includes(word)) there += 1
    else if (field === 'identity' && word.length >= INSIDE_CHARACTERS_MIN)
      there += texts.some((text) => text.includes(word)) ? INSIDE_NAME : 0
  }
  return (there / words.length) ** 3
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

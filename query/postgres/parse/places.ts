/**
 * The places in the user's text of a printed statement's parts, so that what the server says of a place in
 * the one is told of the other. Parts that the gate added have no place of their own: what is said of them
 * is told of the nearest part before.
 */

import type { SqlPosition } from '../../UserQueryError.ts'
import { placeOfByte } from './dialect.ts'
import { isFields, type NodeFields } from './walk.ts'

/** Under which a rebuilt node holds the byte offset of the user's. Copies of the node keep it. */
const origin = Symbol('origin')

/** The rebuilt fields of a node, with the place of the user's. */
export function placed(rebuilt: Record<string | symbol, unknown>, { location }: NodeFields): NodeFields {
  if (typeof location === 'number') rebuilt[origin] = location
  return rebuilt
}

/** The place of a rebuilt tree's first part in the user's text, in bytes; -1 if it has none. */
export function beginOf(rebuilt: unknown): number {
  const found: number[] = []
  const waiting: unknown[] = [rebuilt]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (Array.isArray(part)) waiting.push(...part)
    if (!isFields(part)) continue
    const own = Reflect.get(part, origin)
    if (typeof own === 'number' && own >= 0) found.push(own)
    waiting.push(...Object.values(part))
  }
  return found.reduce((first, own) => Math.min(first, own), found[0] ?? -1)
}

/** A byte offset in the printed statement, and that of the same part in the user's text. */
type Pair = readonly [printed: number, own: number]

/** Pairs of places, in the order of the printed ones. Both trees have one form. */
export function placesIn(printed: unknown, rebuilt: unknown): readonly Pair[] {
  const pairs: Pair[] = []
  const waiting: [unknown, unknown][] = [[printed, rebuilt]]
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [there, here] = pair
    if (Array.isArray(there) && Array.isArray(here))
      there.forEach((item, index) => {
        waiting.push([item, here[index]])
      })
    if (!isFields(there) || !isFields(here)) continue
    const own = Reflect.get(here, origin)
    const at = there['location'] ?? 0
    if (typeof own === 'number' && typeof at === 'number' && own >= 0) pairs.push([at, own])
    for (const [key, inner] of Object.entries(there)) waiting.push([inner, here[key]])
  }
  return pairs.sort(([a], [b]) => a - b)
}

/** @param offset characters into the printed statement, as the server counts */
export function placeOf(
  offset: number,
  printed: string,
  places: readonly Pair[],
  sql: string,
): SqlPosition | undefined {
  const bytes = Buffer.byteLength([...printed].slice(0, offset).join(''))
  const [, own] = places.findLast(([at]) => at <= bytes) ?? []
  return own === undefined ? undefined : placeOfByte(sql, own)
}

/**
 * Which live query gives up its place where none is free: one of the party that holds the most, or,
 * where all hold as few, one that was held for long.
 */
import { everybody } from '#runtime/Slots.ts'

export interface HeldPlace {
  /** The caller that began the query, or the first of those that still watch it. */
  readonly party: string
  readonly clients: number
  /** Monotonic: when it was taken. */
  readonly sinceMs: number
}

/** Time after which a place goes round, where callers without one ask for it. */
export const PLACE_MS_MAX = 10 * 60_000

/** The place that its holder gives up for one more of `party`; undefined where that would be unfair. */
export function placeToYield<Place extends HeldPlace>(
  held: readonly Place[],
  party: string,
  nowMs: number,
): Place | undefined {
  const counts = new Map<string, number>()
  for (const place of held) counts.set(place.party, (counts.get(place.party) ?? 0) + 1)
  const countOf = (of: string) => counts.get(of) ?? 0
  const others = held.filter((place) => place.party !== party && place.party !== everybody)
  const most = Math.max(0, ...others.map((place) => countOf(place.party)))
  if (most > countOf(party) + 1)
    return least(
      others.filter((place) => countOf(place.party) === most),
      (place) => -place.sinceMs,
    )
  return least(
    others.filter((place) => countOf(place.party) > countOf(party) && nowMs - place.sinceMs >= PLACE_MS_MAX),
    (place) => place.sinceMs,
  )
}

/** The first in the order among those with the fewest watchers. */
const least = <Place extends HeldPlace>(
  places: readonly Place[],
  order: (place: Place) => number,
): Place | undefined => places.toSorted((a, b) => a.clients - b.clients || order(a) - order(b))[0]

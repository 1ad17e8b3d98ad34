/**
 * Which fills are one swap. No event says so: a swap's fills are logged one after the other, with
 * nothing but events of the exchange between them, because it moves tokens before its first fill
 * and after its last one.
 */
import type { BookEvent, Fill } from './book.ts'

/** The trade of a fill of one book: the taker's two tokens. */
export interface Leg {
  readonly source: string
  readonly destination: string
}

export const legOf = ({ base, quote, isBid }: Pick<Fill, 'base' | 'quote' | 'isBid'>): Leg =>
  isBid ? { source: base, destination: quote } : { source: quote, destination: base }

/** The fills of one swap by its legs, in the order of its route. */
export type Swap = readonly (readonly Fill[])[]

/** The swaps that the fills are. `events` are all of the exchange in these blocks. */
export const swapsOf = (fills: readonly Fill[], events: readonly BookEvent[]): readonly Swap[] =>
  runsOf(fills, events).flatMap(chainFills)

/** For each fill, in order: the log index of the first fill of its swap. */
export function assignSwaps(fills: readonly Fill[], swaps: readonly Swap[]): number[] {
  const firstOf = new Map<Fill, number>()
  for (const swap of swaps) {
    const first = Math.min(...swap.flat().map(({ place }) => place.logIndex))
    for (const fill of swap.flat()) firstOf.set(fill, first)
  }
  return fills.map((fill) => firstOf.get(fill) ?? fill.place.logIndex)
}

/** Fills of one taker and transaction between which only the exchange logged anything. */
function runsOf(fills: readonly Fill[], events: readonly BookEvent[]): Fill[][] {
  const nth = new Map(events.map(({ place }, index) => [`${place.blockNumber}/${place.logIndex}`, index]))
  const indexOf = ({ place }: Fill) => nth.get(`${place.blockNumber}/${place.logIndex}`) ?? -1
  const runs: Fill[][] = []
  for (const fill of fills) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const goesOn =
      last?.taker === fill.taker &&
      last.place.txHash === fill.place.txHash &&
      indexOf(fill) - indexOf(last) === fill.place.logIndex - last.place.logIndex
    if (run && goesOn) run.push(fill)
    else runs.push([fill])
  }
  return runs
}

/**
 * The fills of a run by route: legs are chained where one gives what another takes, in whatever
 * order they were logged. Legs that form no path, because they branch or go round, stand alone.
 */
function chainFills(run: readonly Fill[]): Swap[] {
  const legs = Map.groupBy(run, (fill) => {
    const { source, destination } = legOf(fill)
    return `${source}/${destination}`
  })
  const fillsOf = ([source, destination]: readonly string[]) => legs.get(`${source}/${destination}`) ?? []
  return chainLegs([...legs.values()].flatMap(([fill]) => (fill ? [legOf(fill)] : []))).map((route) =>
    route.slice(1).map((token, index) => fillsOf([route[index] ?? '', token])),
  )
}

/** Routes through the legs: each a list of tokens, from the one given to the one got. */
export function chainLegs(legs: readonly Leg[]): string[][] {
  const alone = legs.map(({ source, destination }) => [source, destination])
  const next = new Map(legs.map(({ source, destination }) => [source, destination]))
  const destinations = new Set(legs.map(({ destination }) => destination))
  if (next.size < legs.length || destinations.size < legs.length) return alone
  const starts = [...next.keys()].filter((source) => !destinations.has(source))
  const routes = starts.map((start) => routeFrom(start, next))
  const chained = routes.reduce((sum, route) => sum + route.length - 1, 0)
  return chained === legs.length ? routes : alone
}

/**
 * No token is the destination of two legs, so that a route that begins where none leads to ends.
 */
function routeFrom(start: string, next: ReadonlyMap<string, string>): string[] {
  const route = [start]
  for (let token = next.get(start); token !== undefined; token = next.get(token)) route.push(token)
  return route
}

/** Rates of a chain from reports over time: what happened, not what was hoped for. */

import type { HistoryStatus } from './wire.ts'

/** A height at a moment. */
export interface Sighting {
  readonly height: number | null
  readonly atMs: number
}

/** Long enough to be steady, short enough to show a change. */
const WINDOW_MS = 30_000

/** The sightings of the last half minute, with the newest. */
export function remember(sightings: readonly Sighting[], newest: Sighting): Sighting[] {
  return [...sightings, newest].filter(({ atMs }) => newest.atMs - atMs <= WINDOW_MS)
}

/** Blocks per second over the sightings; null while they say nothing. */
export function blocksPerSecond(sightings: readonly Sighting[]): number | null {
  const known = sightings.filter(({ height }) => height !== null)
  const [first, last] = [known[0], known.at(-1)]
  if (!first || !last || last.atMs - first.atMs < 1_000) return null
  return Math.max(0, (last.height ?? 0) - (first.height ?? 0)) / ((last.atMs - first.atMs) / 1_000)
}

/** The time that something took: `4.2 ms`, `350 ms`, `4.2 s`, `21 min`. */
export function elapsedLabel(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`
  return durationLabel(ms / 1_000)
}

/** `12 s`, `3 min`, `1.5 h`. */
export function durationLabel(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5_400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3_600).toFixed(1)} h`
}

/** Rounded down: 100 means all of it. */
export const percentDone = (done: number, total: number): number =>
  total > 0 ? Math.min(100, Math.floor((done / total) * 1_000) / 10) : 0

/**
 * How far the history of a chain is read, as `1,200 of 2,000 blocks, 60 %, 250 blocks/s, 4 s left`;
 * null where nothing is left of it.
 */
export function historyLabel({
  blocksDone,
  blocksTotal,
  blocksPerSecond: rate,
  etaSeconds,
}: HistoryStatus): string | null {
  if (blocksDone >= blocksTotal) return null
  const [done, total, speed] = [blocksDone, blocksTotal, Math.round(rate ?? 0)].map((count) =>
    count.toLocaleString('en-US'),
  )
  const parts = [
    `${done} of ${total} ${blocksTotal === 1 ? 'block' : 'blocks'}, ${percentDone(blocksDone, blocksTotal)} %`,
    ...(speed === '0' ? [] : [`${speed} blocks/s`]),
    ...(etaSeconds === null ? [] : [`${durationLabel(etaSeconds)} left`]),
  ]
  return parts.join(', ')
}

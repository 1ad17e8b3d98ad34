/**
 * Arithmetic on block ranges. A range is `{ from, to }`, both inclusive; a set is sorted, disjoint
 * and not adjacent.
 */

export interface BlockRange {
  readonly from: number
  readonly to: number
}

export type RangeSet = readonly BlockRange[]

export const blockCount = (range: BlockRange): number => range.to - range.from + 1

/** Sorted and merged; touching ranges become one. */
export function normalize(ranges: Iterable<BlockRange>): BlockRange[] {
  const sorted = [...ranges].filter((r) => r.to >= r.from).sort((a, b) => a.from - b.from)
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of sorted) {
    const last = merged.at(-1)
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

export const union = (a: RangeSet, b: RangeSet): BlockRange[] => normalize([...a, ...b])

/** The blocks that `a` holds and `b` does not. */
export function difference(a: RangeSet, b: RangeSet): BlockRange[] {
  const result: BlockRange[] = []
  for (const range of a) {
    let from = range.from
    for (const hole of b) {
      if (hole.to < from || hole.from > range.to) continue
      if (hole.from > from) result.push({ from, to: hole.from - 1 })
      from = hole.to + 1
    }
    if (from <= range.to) result.push({ from, to: range.to })
  }
  return result
}

export function intersection(a: RangeSet, b: RangeSet): BlockRange[] {
  const result: BlockRange[] = []
  for (const x of a)
    for (const y of b) {
      const from = Math.max(x.from, y.from)
      const to = Math.min(x.to, y.to)
      if (from <= to) result.push({ from, to })
    }
  return normalize(result)
}

/** True when every block of `range` is in the set. */
export const covers = (set: RangeSet, range: BlockRange): boolean =>
  set.some((r) => r.from <= range.from && r.to >= range.to)

/** The newest contiguous segment: what lists read. */
export const newestSegment = (set: RangeSet): BlockRange | undefined => set.at(-1)

/** Cuts a range so that no piece straddles a multiple of `width`. */
export function splitAligned(range: BlockRange, width: number): BlockRange[] {
  const pieces: BlockRange[] = []
  for (let from = range.from; from <= range.to; ) {
    const to = Math.min(range.to, Math.floor(from / width) * width + width - 1)
    pieces.push({ from, to })
    from = to + 1
  }
  return pieces
}

/** Postgres int8multirange text, e.g. `{[1,5),[9,10)}`, to a set. */
export function parseMultirange(text: string): BlockRange[] {
  return [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, end]) => ({
    from: Number(from),
    to: Number(end) - 1,
  }))
}

/** A set as Postgres int8multirange text. */
export const formatMultirange = (set: RangeSet): string =>
  `{${set.map((r) => `[${r.from},${r.to + 1})`).join(',')}}`

import { type BlockRange, blockCount } from './range.ts'

/**
 * `count` pieces of `width` blocks, spread evenly over the range; the whole range when it is not
 * longer than that.
 */
export function samplePlaces(range: BlockRange, count: number, width: number): BlockRange[] {
  const blocks = blockCount(range)
  if (blocks <= count * width) return [range]
  return Array.from({ length: count }, (_, index) => {
    const middle = range.from + Math.floor(((index + 0.5) * blocks) / count)
    const from = Math.min(Math.max(range.from, middle - Math.floor(width / 2)), range.to - width + 1)
    return { from, to: from + width - 1 }
  })
}

/** The blocks of a command's `--from` and `--to` that the chain has. */
import { SettingError } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'

export interface RangeBelow {
  readonly range: BlockRange
  /** The part that is left out; null if there is none. */
  readonly note: string | null
}

/**
 * Cuts the range at the newest block that counts, and says so.
 * @param name of that block, as a sentence begins: `head`
 * @throws SettingError where nothing of it is there
 */
export function rangeBelow({ from, to }: BlockRange, newest: number, name: string): RangeBelow {
  if (from > newest) throw new SettingError('--from', `block ${from} is not there yet: ${name} is ${newest}`)
  if (to < from) throw new SettingError('--to', `block ${to} is below --from, which is ${from}`)
  if (to <= newest) return { range: { from, to }, note: null }
  const note = `${name} is ${newest}: blocks ${newest + 1} to ${to} are left out`
  return { range: { from, to: newest }, note }
}

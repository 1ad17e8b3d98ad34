/**
 * A filter's memory of blocks it told that may still be replaced. If finality stalls these become ever
 * more, so the oldest are forgotten; a reorganization that reaches them ends the filter, for what it would
 * take back is not known.
 */
import type { FilterProgress, ToldBlock } from '#rows/rpcFilters.ts'

const BLOCKS_MAX = 512
/** Characters of the logs of one filter. */
const CHARACTERS_MAX = 4 * 1024 * 1024

/** The newest of these that fit; the last one below them is remembered by its hash alone. */
export function remembered(
  told: readonly ToldBlock[],
  blocksMax = BLOCKS_MAX,
  charactersMax = CHARACTERS_MAX,
): ToldBlock[] {
  const kept: ToldBlock[] = []
  let characters = 0
  for (const block of told.toReversed()) {
    characters += JSON.stringify(block.logs).length
    if (kept.length === blocksMax || characters > charactersMax)
      return [{ ...block, logs: [], isFloor: true }, ...kept]
    kept.unshift(block)
    if (block.isFloor) break
  }
  return kept
}

/** Whether the chain was left below what is remembered. */
export const isForgotten = ([oldest]: readonly ToldBlock[], fork: number): boolean =>
  oldest?.isFloor === true && fork < oldest.number

/**
 * The start of a filter whose client was told of a block that is not held yet: what comes up to it is no
 * news. Of this block only the hash is known, so that another one in its place ends the filter.
 */
export const awaiting = (number: number, hash: string | null): FilterProgress => ({
  toldBlock: number,
  told: hash === null ? [] : [{ number, hash, logs: [], isFloor: true, isAwaited: true }],
})

/** Whether clients are told of a lower head now, so that the awaited block is none. */
export const isWithdrawn = ([oldest]: readonly ToldBlock[], shown: number, tip: number): boolean =>
  oldest?.isAwaited === true && tip < oldest.number && shown >= 0 && shown < oldest.number

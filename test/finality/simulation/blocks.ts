/**
 * The blocks of all seeds, made once: a true chain whose key changes at the fourth epoch, and forged
 * branches that leave it at any height. Each is true to its header.
 */
import { type RecomputedHeader, recomputedHeader } from '#ingest/finality/certificate/recomputedHeader.ts'
import type { Hash } from '#primitives.ts'
import { type Branch, grown, keysChangingAt } from '../../support/finalityChain.ts'
import type { TempoBlock } from '../../support/tempoBlock.ts'

/** The second group signs from this epoch on. */
export const CHANGED_EPOCH = 3
export const schedule = keysChangingAt(CHANGED_EPOCH)
/** The true chain's last height, and the longest that a forged branch gets above its fork. */
export const LAST = 54
const FORGED_MAX = 14

export const trueChain: Branch = grown([], LAST + 1, { schedule })

const headers = new Map<string, RecomputedHeader>()

/** A block of any branch as the program recomputes it. */
export function headerOf({ block }: TempoBlock): RecomputedHeader {
  const known = headers.get(block.hash)
  if (known) return known
  const header = recomputedHeader(block)
  if (!header) throw new TypeError('a made-up block has a header')
  headers.set(header.hash, header)
  return header
}

/** Null where no node has shown such a block. */
export const headerAt = (digest: Hash): RecomputedHeader | null => headers.get(digest) ?? null

export const trueHash = (number: number): Hash | undefined => {
  const block = trueChain[number]
  return block && headerOf(block).hash
}

const branches = new Map<number, Branch>()

/** The true chain up to `fork`, and forged blocks above it, which say that no key ever changes. */
export function forgedAbove(fork: number): Branch {
  const known = branches.get(fork)
  if (known) return known
  const branch = grown(trueChain.slice(0, fork + 1), FORGED_MAX, {
    miner: '0x00000000000000000000000000000000000000bb',
  })
  branches.set(fork, branch)
  return branch
}

/** An endpoint's word on the end of its chain, and the joint worth of several such words. Pure. */
import type { BlockRef } from '#primitives.ts'
import { HEADS_APART_MAX } from '../../source.ts'

export interface Claim {
  readonly head: BlockRef
  /** When the head's block was made, in seconds; null when the node does not say. */
  readonly timestamp: number | null
  /** The newest block this endpoint grants to be final. */
  readonly finalized: number
  /** The block that it was concluded from: the final block of a node's tag, or the head of one without. */
  readonly finalizedBy: BlockRef
  /** Its node has a tag for final blocks; counted from the head they say nothing of the node. */
  readonly isTagged: boolean
  /** Name of the endpoint. */
  readonly endpoint: string
}

/**
 * No chain makes more blocks in a second; a head that would need more of them is of another chain.
 */
const BLOCKS_PER_SECOND_MAX = 100
/** A node whose newest block is this much older than that of another one is catching up. */
const CATCHING_UP_SECONDS = 600
/**
 * Clocks of machines differ, and a block may be dated a little ahead. Far less than what makes
 * others catch up: no date may silence them.
 */
const FUTURE_SECONDS_MAX = 60

/**
 * The claim whose finality counts: the highest one that two endpoints grant, or that of the only
 * one. One alone among several could call any block final, and a final block is never taken back.
 */
export function grantedFinality(claims: readonly Claim[]): Claim | null {
  const [highest, ...others] = claims.toSorted((a, b) => b.finalized - a.finalized)
  if (!highest || others.length === 0) return highest ?? null
  const higher = [highest]
  for (const claim of others) {
    if (higher.some((other) => !contradicts(other, claim))) return claim
    higher.push(claim)
  }
  return null
}

const contradicts = (a: Claim, b: Claim): boolean =>
  a.finalizedBy.number === b.finalizedBy.number && a.finalizedBy.hash !== b.finalizedBy.hash

/**
 * Whether `ahead` may be the newer head of the chain whose block of `behindSeconds` is the newest
 * that another node has.
 */
export function mayBeAhead(
  ahead: Claim,
  behind: Claim,
  behindSeconds: number | null,
  nowSeconds: number,
): boolean {
  if (ahead.timestamp === null || behindSeconds === null) return false
  if (ahead.timestamp > nowSeconds + FUTURE_SECONDS_MAX) return false
  const blocksMax = BLOCKS_PER_SECOND_MAX * (ahead.timestamp - behindSeconds)
  return ahead.head.number - behind.head.number <= blocksMax
}

/** Whether one node is so far behind another that its word about finality is an old one. */
export const isCatchingUp = (behind: Claim, ahead: Claim): boolean =>
  behind.head.number + HEADS_APART_MAX < ahead.head.number &&
  ahead.timestamp !== null &&
  behind.timestamp !== null &&
  behind.timestamp + CATCHING_UP_SECONDS < ahead.timestamp

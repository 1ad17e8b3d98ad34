/**
 * How fresh an answer is, and waiting for a block the client has already seen elsewhere (read your
 * writes).
 */
import type { Clock } from '#runtime/runtime.ts'
import { ApiError } from '../errors.ts'
import * as p from './parameter.ts'

/** The state of a chain's data. */
export interface ChainFreshness {
  /** Newest block readers may see; null while there is none. */
  readonly indexedBlock: number | null
  readonly finalizedBlock: number | null
  /** The cause of `finalizedBlock`'s finality: a certificate of the chain, or the word of endpoints. */
  readonly finality?: 'proved' | 'agreed'
  /** Newest block the node reports. */
  readonly headBlock: number | null
  /** Grows with every change of what readers see, also where the heights stay. */
  readonly version?: number
  /** The chain is made up by this program, and no network has its blocks. */
  readonly isLocal?: boolean
}

/** Implemented over the commit log; reads are in memory, they cost nothing per request. */
export interface Freshness {
  read(chainId: number): ChainFreshness
  /** Resolves once the block is visible to readers; rejects with the signal's reason. */
  waitForBlock(chainId: number, block: number, signal: AbortSignal): Promise<void>
  /** Looks at most once a second. @throws what says that the chain's store does not answer */
  assertReadable?(chainId: number): Promise<void>
}

/**
 * Long enough for several block times, short enough that a wrong height does not hold a connection.
 */
const WAIT_MS_MAX = 5_000

export const minBlockParameter = p.described(
  p.blockNumber,
  'Answer only from data that contains this block: waits up to 5 s for it, then 409 `block_not_reached`.',
)

/** The state of an answer that may be of an older block than the newest one held. */
export class Standing {
  /** A block that the answer has to contain. */
  readonly atLeast: number | undefined
  #tip = Infinity

  constructor(atLeast: number | undefined) {
    this.atLeast = atLeast
  }

  /** Infinity where nothing said that it is older. */
  get tip(): number {
    return this.#tip
  }

  tell(tip: number): void {
    this.#tip = Math.min(this.#tip, tip)
  }
}

/** Headers of every answer with chain data. */
export function freshnessHeaders({
  indexedBlock,
  finalizedBlock,
  finality = 'agreed',
  headBlock,
  isLocal = false,
}: ChainFreshness): Record<string, string> {
  const headers: Record<string, string> = isLocal ? { 'svc-chain-local': 'true' } : {}
  if (indexedBlock !== null) headers['svc-indexed-block'] = `${indexedBlock}`
  if (finalizedBlock !== null) {
    headers['svc-finalized-block'] = `${finalizedBlock}`
    headers['svc-finality'] = finality
  }
  if (indexedBlock !== null && headBlock !== null) {
    headers['svc-lag-blocks'] = `${Math.max(0, headBlock - indexedBlock)}`
  }
  return headers
}

/** @throws ApiError block_not_reached when the block does not become visible in time. */
export async function waitForMinBlock(
  { freshness, clock, signal }: { freshness: Freshness; clock: Clock; signal: AbortSignal },
  chainId: number,
  minBlock: number,
): Promise<void> {
  const { indexedBlock } = freshness.read(chainId)
  if (indexedBlock !== null && indexedBlock >= minBlock) return
  const waiting = new AbortController()
  const visible = freshness.waitForBlock(chainId, minBlock, AbortSignal.any([signal, waiting.signal]))
  const tooLate = clock.sleep(WAIT_MS_MAX, waiting.signal).then(() => {
    throw notReached(minBlock, freshness.read(chainId))
  })
  try {
    await Promise.race([visible, tooLate])
  } finally {
    // The loser of the race rejects with this abort; nobody waits for it.
    visible.catch(() => {})
    tooLate.catch(() => {})
    waiting.abort()
  }
}

function notReached(minBlock: number, { indexedBlock }: ChainFreshness): ApiError {
  const newest = indexedBlock === null ? 'none is' : `the newest is ${indexedBlock}`
  return new ApiError('block_not_reached', `Block ${minBlock} is not indexed yet; ${newest}.`, {
    details: [{ path: ['query', 'minBlock'], message: `not indexed yet; ${newest}` }],
    headers: { 'retry-after': '1' },
  })
}

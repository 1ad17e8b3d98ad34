import type { BlockRef, Hash } from '#primitives.ts'
import type { BlockRange } from './range.ts'
import type { EncodedBlock } from './verify/parts/encodedBlock.ts'

/** Heads this far apart, or less, are of nodes of one chain of which one is a little behind. */
export const HEADS_APART_MAX = 128

/** The chain as it looked when asked. `finalized` never exceeds `head`. */
export interface ChainHead {
  readonly head: BlockRef
  /**
   * Newest block that cannot change: the node's `finalized` tag, else head minus the configured
   * depth.
   */
  readonly finalized: number
  /**
   * The block that `finalized` was concluded from: the final block itself as the node's tag gave it, else
   * the head it was counted from. Whoever holds this block holds the final chain below it; a block asked
   * for by its number proves no such thing, because caches in front of nodes keep what was replaced. Never
   * below `finalized`.
   */
  readonly finalizedBy: BlockRef
  /**
   * A certificate of the chain proves `finalizedBy`: an endpoint that tells another block is wrong,
   * never who gave the certificate.
   */
  readonly isProved?: boolean
  /**
   * The endpoints whose word head and finality are. One that named a block of no chain is told of
   * it.
   */
  readonly toldBy?: { readonly head: string; readonly finalized: string }
}

/**
 * A range as the node answered it: the bytes of one JSON-RPC batch response whose items are, for
 * each block in order, `eth_getBlockByNumber(n, true)` with id `2k` and `eth_getBlockReceipts(n)`
 * with id `2k + 1`, k = n - from. Nothing in it has been checked; the bytes go to a worker as they
 * are.
 */
export interface RawRange {
  readonly range: BlockRange
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Which endpoint answered; its name carries no secret. A refuted answer counts against it. */
  readonly endpoint: string
  /**
   * Lengths of each block's parts, where the bytes are no node's answer but parts of our archive as
   * they are stored, one after another: unpacking and reading them is a worker's task too.
   */
  readonly partLengths?: readonly (readonly number[])[]
  /** Each block's own bytes, where they were asked for and the endpoint tells them. */
  readonly encoded?: readonly EncodedBlock[]
}

/** How a range is asked for. */
export interface FetchOptions {
  readonly signal?: AbortSignal
  /** Endpoints whose last answer for this range was refuted: they are asked last. */
  readonly not?: ReadonlySet<string>
  /**
   * Each receipt is asked for by its transaction: some nodes leave some out of a block's list, or have
   * none. Far below the head `null` stands in the answer where the node has none of this block.
   */
  readonly receiptsSingly?: boolean
  /** With the blocks' own bytes, where an endpoint tells them: what JSON does not prove, they may. */
  readonly encoded?: boolean
}

/** Blocks that certificates of the chain prove. */
export interface CertifiedBlocks {
  /** The newest ones, in no order. */
  readonly blocks: readonly BlockRef[]
  /** Neither of these two descends from the other: their certificates contradict each other. */
  part(one: BlockRef, other: BlockRef): void
}

/** One chain seen through one or more RPC endpoints. */
export interface Source {
  readonly chainId: number
  /**
   * Endpoints that answered lately: with two or more, what cannot be proved needs a second one that
   * tells the same.
   */
  readonly answering?: number
  /**
   * How many blocks answer in about the byte target; changes as the source learns. Plans parallel
   * fetches.
   */
  readonly batchBlocks: number
  /** Newest head and finality over the healthy endpoints; finality never decreases. */
  head(signal?: AbortSignal): Promise<ChainHead>
  /**
   * The node's reference of one height, or null when it has no such block (yet).
   * @param held hash of the block that we hold there as final: no endpoint's word alone replaces it while
   * another one may be heard
   */
  blockRef(number: number, signal?: AbortSignal, held?: string): Promise<BlockRef | null>
  /**
   * Fetches a range, or a prefix of it when the answer would exceed the byte target; never an empty
   * range.
   * @throws SourceError when no endpoint answered within the retry budget.
   */
  fetch(range: BlockRange, options?: FetchOptions): Promise<RawRange>
  /** False, or absent, while no endpoint is known to tell blocks' own bytes that prove more than JSON. */
  readonly tellsEncoded?: boolean
  /** Tells the source that an endpoint's bytes proved no more: it is not asked for them for a while. */
  reportEncodedInVain?(endpoint: string): void
  /** Tells the source that a transaction of a block has no receipt in the list of an endpoint. */
  reportLacking?(endpoint: string, block: number): void
  /** Resolves when a newer head is known than `after`, or after `timeoutMs`. */
  waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void>
  /**
   * Whether what `head` told of finality counts still; absent: it does. The first certificate may have
   * been checked since, or a word that it rests on refuted.
   */
  grants?(told: ChainHead): boolean
  /** The block with this hash, as its header was recomputed; null where no endpoint has it. */
  certified?(hash: Hash, signal?: AbortSignal): Promise<BlockRef | null>
  /** Blocks that certificates prove; absent where endpoints alone decide what is final. */
  readonly certifiedBlocks?: CertifiedBlocks | undefined
  /** A block that a certificate proves: endpoints that tell another one at its height are left out. */
  leaveOutOthers?(certified: BlockRef, signal?: AbortSignal): Promise<void>
  /** Tells the source that an endpoint's answer was refuted, so that it can be quarantined. */
  reportRefuted(endpoint: string): void
  close(): Promise<void>
}

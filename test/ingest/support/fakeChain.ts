import { createHash } from 'node:crypto'
import { failure } from '#errors.ts'
import { type BlockRef, type Hash, hash } from '#primitives.ts'
import { type BlockRange, blockCount } from '../../../ingest/range.ts'
import type { Batch } from '../../../ingest/sink.ts'
import type { ChainHead, RawRange, Source } from '../../../ingest/source.ts'

/**
 * A chain of bare references that grows and reorganizes on command. Hashes follow from parent and a
 * counter.
 */
export class FakeChain {
  blocks: BlockRef[] = []
  finalized = 0
  readonly #name: string
  #made = 0
  readonly #listeners = new Set<() => void>()

  /** Chains of the same name and history have the same blocks. */
  constructor(length = 1, name = '') {
    this.#name = name
    this.extend(length)
  }

  get head(): BlockRef {
    const last = this.blocks.at(-1)
    if (!last) throw new Error('a chain has a genesis block')
    return last
  }

  extend(count: number): void {
    for (let i = 0; i < count; i++) {
      const parentHash = this.blocks.at(-1)?.hash ?? hash(`0x${'00'.repeat(32)}`)
      this.blocks.push({ number: this.blocks.length, hash: this.#hash(parentHash), parentHash })
    }
    this.#tell()
  }

  /** Replaces the newest `depth` blocks by `length` others. */
  reorg(depth: number, length = depth): void {
    this.blocks.length = Math.max(1, this.blocks.length - depth)
    this.extend(length)
  }

  /** The blocks as they are, to come back to: flip-flops between branches. */
  snapshot(): BlockRef[] {
    return [...this.blocks]
  }

  restore(blocks: readonly BlockRef[]): void {
    this.blocks = [...blocks]
    this.#tell()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  #hash(parentHash: Hash): Hash {
    this.#made++
    return hash(`0x${createHash('sha256').update(`${this.#name}${parentHash}${this.#made}`).digest('hex')}`)
  }
}

/** A batch of nothing but references; each block counts as 1,000 bytes. */
export interface RefBatch extends Batch {
  readonly refs: readonly BlockRef[]
}

/** Faults on the way; each is called before the answer is made and may throw or wait. */
export interface SourceFaults {
  before?: (method: 'head' | 'blockRef' | 'fetch') => void | Promise<void>
  /** Replaces the blocks of an answer, as a lying or lagging node would. */
  answer?: (refs: BlockRef[], range: BlockRange) => BlockRef[]
  /** Serves at most so many blocks of a range. */
  prefixBlocksMax?: number
}

/**
 * Real time an idle follower waits here, whatever it asked for: tests drive the chain themselves.
 */
const IDLE_MS = 2

/** The port `Source` in front of a FakeChain: raw bytes are the JSON of the references. */
export class FakeSource implements Source {
  readonly chainId = 1
  batchBlocks = 16
  readonly chain: FakeChain
  readonly faults: SourceFaults
  readonly refuted: string[] = []
  readonly fetched: BlockRange[] = []
  inFlight = 0
  inFlightMax = 0

  constructor(chain: FakeChain, faults: SourceFaults = {}) {
    this.chain = chain
    this.faults = faults
  }

  async head(): Promise<ChainHead> {
    await this.faults.before?.('head')
    const { head, blocks } = this.chain
    const finalized = Math.min(this.chain.finalized, head.number)
    return { head, finalized, finalizedBy: blocks[finalized] ?? head }
  }

  async blockRef(number: number): Promise<BlockRef | null> {
    await this.faults.before?.('blockRef')
    return this.chain.blocks[number] ?? null
  }

  async fetch(
    asked: BlockRange,
    options: { signal?: AbortSignal; not?: ReadonlySet<string> } = {},
  ): Promise<RawRange> {
    this.inFlightMax = Math.max(this.inFlightMax, ++this.inFlight)
    try {
      await this.faults.before?.('fetch')
      options.signal?.throwIfAborted()
      const to = Math.min(asked.to, asked.from + (this.faults.prefixBlocksMax ?? this.batchBlocks) - 1)
      const range = { from: asked.from, to }
      this.fetched.push(range)
      const held = this.chain.blocks.slice(range.from, range.to + 1)
      const refs = this.faults.answer?.(held, range) ?? held
      return { range, bytes: new TextEncoder().encode(JSON.stringify(refs)), endpoint: 'fake' }
    } finally {
      this.inFlight--
    }
  }

  async waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (this.chain.head.number > after || signal?.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(timeoutMs, IDLE_MS))
      const done = () => {
        clearTimeout(timer)
        stop()
        resolve()
      }
      const stop = this.chain.onChange(() => this.chain.head.number > after && done())
      signal?.addEventListener('abort', done, { once: true })
    })
  }

  reportRefuted(endpoint: string): void {
    this.refuted.push(endpoint)
  }

  async close(): Promise<void> {}
}

/** Stands where the worker pool stands: bytes to a batch, refusing answers with missing blocks. */
export async function decodeRefs({ range, bytes }: RawRange): Promise<RefBatch> {
  const refs: BlockRef[] = JSON.parse(new TextDecoder().decode(bytes))
  if (refs.length !== blockCount(range)) throw new IncompleteAnswerError(range)
  return { range, refs, byteLength: refs.length * 1000 }
}

export class IncompleteAnswerError extends failure('IncompleteAnswerError', 'incomplete_answer', 'retry') {
  constructor(range: BlockRange) {
    super(`blocks are missing in ${range.from}..${range.to}`)
  }
}

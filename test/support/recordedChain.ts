/**
 * A recorded chain in this process, as the port `Source`: its head moves and reorganizes on
 * command, and needs no server.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { ChainHead, RawRange, Source } from '#ingest/source.ts'
import { type BlockRef, hash } from '#primitives.ts'
import { Recording } from '../chain/replay/recording.ts'
import { answerBytes } from './answerBytes.ts'

/** Real time an idle follower waits for a head that tests move themselves. */
const IDLE_MS = 20

/**
 * Heights beyond the recording show it again with other numbers and hashes; only links can be
 * checked there.
 */
export class RecordedChain {
  readonly #recording: Recording
  #head: number
  /** Blocks behind the head that are final. */
  finality: number
  readonly #waiting = new Set<() => void>()

  constructor(recording: Recording, head: number, finality: number) {
    this.#recording = recording
    this.#head = head
    this.finality = finality
  }

  /** First height whose block can be replaced. */
  get replaceableFrom(): number {
    return this.#recording.loopFrom + 1
  }

  get head(): number {
    return this.#head
  }

  get finalized(): number {
    return Math.max(0, this.#head - this.finality)
  }

  advanceTo(head: number): void {
    this.#head = head
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Replaces the newest `depth` blocks. */
  reorg(depth: number): void {
    this.#recording.reorg(depth, this.#head)
  }

  refAt(number: number): BlockRef {
    return {
      number,
      hash: hash(this.#recording.hashAt(number)),
      parentHash: number === 0 ? hash(`0x${'00'.repeat(32)}`) : hash(this.#recording.hashAt(number - 1)),
    }
  }

  /**
   * Gives a block another time, for heights at which the repeated recording has left what a
   * timestamp can hold.
   */
  stamp(number: number, seconds: number): void {
    this.#recording.stamps.set(number, seconds)
  }

  /** As a node answers it now. */
  range(range: BlockRange): RawRange {
    const answers = Array.from({ length: range.to - range.from + 1 }, (_, k) => ({
      number: range.from + k,
      block: JSON.parse(this.#recording.json(range.from + k, 'full').toString()),
      receipts: JSON.parse(this.#recording.json(range.from + k, 'receipts').toString()),
    }))
    return { range, bytes: answerBytes(answers), endpoint: 'recording' }
  }

  waitForHead(after: number, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#head > after || signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, Math.min(timeoutMs, IDLE_MS))
      signal?.addEventListener('abort', done, { once: true })
      this.#waiting.add(done)
    })
  }
}

/**
 * Loads a recording; the chain stands at `head`, of which all but `finality` blocks are final.
 */
export async function loadRecordedChain(
  name: string,
  head: number,
  finality: number,
): Promise<RecordedChain> {
  return new RecordedChain(await Recording.load(name, 'anvil'), head, finality)
}

/** The chain as a node that answers at most `batchBlocks` blocks at once. */
export function recordedSource(chain: RecordedChain, chainId: number, batchBlocks: number): Source {
  return {
    chainId,
    batchBlocks,
    head: async (): Promise<ChainHead> => ({
      head: chain.refAt(chain.head),
      finalized: chain.finalized,
      finalizedBy: chain.refAt(Math.max(0, chain.finalized)),
    }),
    blockRef: async (number) => (number > chain.head ? null : chain.refAt(number)),
    fetch: async (range) =>
      chain.range({ from: range.from, to: Math.min(range.to, range.from + batchBlocks - 1) }),
    waitForHead: (after, timeoutMs, signal) => chain.waitForHead(after, timeoutMs, signal),
    reportRefuted: () => {},
    close: async () => {},
  }
}

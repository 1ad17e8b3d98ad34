import type { ByteBudget, ByteGrant } from '../ByteBudget.ts'
import type { BlockRange } from '../range.ts'
import type { Batch } from '../sink.ts'
import { type Fetched, type Fetcher, fetchVerified } from './fetchVerified.ts'

export interface AheadOptions {
  /** Requests of this reader in flight or waiting to be consumed. */
  readonly windowMax: number
  readonly batchBlocksMax: number
  /** The charge of a fetch before its size is known. */
  readonly batchBytesEstimate: number
  readonly budget: ByteBudget
}

/**
 * A planned piece: its batches (several when the source answered a prefix) and the bytes they are
 * charged.
 */
interface Slot<B extends Batch> {
  readonly fetched: readonly Fetched<B>[]
  readonly grant: ByteGrant
}

/**
 * Fetches and decodes the pieces of `range` in parallel and yields them in order. Memory is bounded
 * by the budget, not by the window: a batch is charged until its consumer asks for the next one.
 * The first failure in order ends the reader; leaving it early aborts what is in flight and returns
 * every byte.
 */
export async function* fetchAhead<B extends Batch>(
  fetcher: Fetcher<B>,
  range: BlockRange,
  options: AheadOptions,
  signal?: AbortSignal,
): AsyncGenerator<Fetched<B>, void, undefined> {
  const stop = new AbortController()
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  const slots: Promise<Slot<B>>[] = []
  let next = range.from
  const fill = () => {
    while (slots.length < options.windowMax && next <= range.to) {
      const blocks = Math.max(1, Math.min(options.batchBlocksMax, fetcher.source.batchBlocks))
      const piece = { from: next, to: Math.min(range.to, next + blocks - 1) }
      const slot = loadSlot(fetcher, piece, options, either)
      // Its failure is thrown when its turn comes; until then it is not an unhandled one.
      slot.catch(() => {})
      slots.push(slot)
      next = piece.to + 1
    }
  }
  try {
    fill()
    for (let first = slots.shift(); first; first = slots.shift()) {
      const { fetched, grant } = await first
      try {
        for (const one of fetched) {
          fill()
          yield one
        }
      } finally {
        grant.release()
      }
      fill()
    }
  } finally {
    stop.abort()
    for (const slot of slots)
      slot.then(
        ({ grant }) => grant.release(),
        () => {},
      )
  }
}

async function loadSlot<B extends Batch>(
  fetcher: Fetcher<B>,
  piece: BlockRange,
  { budget, batchBytesEstimate }: AheadOptions,
  signal: AbortSignal,
): Promise<Slot<B>> {
  const grant = await budget.acquire(batchBytesEstimate, signal)
  try {
    const fetched: Fetched<B>[] = []
    let bytes = 0
    for (let from = piece.from; from <= piece.to; ) {
      const one = await fetchVerified(fetcher, { from, to: piece.to }, signal)
      fetched.push(one)
      bytes += one.batch.byteLength
      from = one.batch.range.to + 1
      // The rest of the piece counts as one answer.
      grant.resize(from <= piece.to ? bytes + batchBytesEstimate : bytes)
    }
    return { fetched, grant }
  } catch (error) {
    grant.release()
    throw error
  }
}

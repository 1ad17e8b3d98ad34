/** The lane's store, as a program that believes too much of a certificate would look at it. */
import type { HeadSink } from '#ingest/sink.ts'
import { hash } from '#primitives.ts'
import type { RefBatch } from '../../ingest/support/fakeChain.ts'
import type { MemorySink } from '../../ingest/support/memorySink.ts'
import type { FinalityBug } from './bugs.ts'

export interface Planted {
  readonly bug: FinalityBug | null
  readonly startBlock: number
  readonly sink: MemorySink & Required<Pick<HeadSink<RefBatch>, 'emptyFrom'>>
  /** Height of the newest certificate that was stored; null for none. */
  readonly certified: () => number | null
}

const nobodys = hash(`0x${'00'.repeat(32)}`)

export function plantedSink({ bug, startBlock, sink, certified }: Planted): HeadSink<RefBatch> {
  const isFloor = bug === 'what is final above a certificate is taken back'
  const isEvidence = bug === 'a certificate below the lane takes it back'
  return {
    tip: () => sink.tip(),
    append: (batch) => sink.append(batch),
    revert: (to) => sink.revert(to),
    seal: () => sink.seal(),
    emptyFrom: () => sink.emptyFrom(),
    finalize: (number) => sink.finalize(number),
    finalized: async () => Math.min(await sink.finalized(), (isFloor ? certified() : null) ?? Infinity),
    refAt: async (number) => {
      const isBelow = sink.blocks.length > 0 && number < startBlock
      return isEvidence && isBelow ? { number, hash: nobodys, parentHash: nobodys } : sink.refAt(number)
    },
  }
}

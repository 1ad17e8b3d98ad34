import { converge, type HeadLane } from '#ingest/lanes/converge.ts'
import type { IngestFailpoint } from '#runtime/failpoints.ts'
import { decodeRefs, FakeChain, FakeSource, type RefBatch, type SourceFaults } from './fakeChain.ts'
import { MemorySink } from './memorySink.ts'

/** A head lane over a fake chain and a sink in memory. */
export interface HeadBench {
  chain: FakeChain
  source: FakeSource
  sink: MemorySink
  lane: HeadLane<RefBatch>
}

export function openHeadBench(
  length: number,
  faults: SourceFaults = {},
  visit: (name: IngestFailpoint) => void = () => {},
): HeadBench {
  const chain = new FakeChain(length)
  const source = new FakeSource(chain, faults)
  const sink = new MemorySink()
  const lane: HeadLane<RefBatch> = {
    lane: 'head',
    source,
    sink,
    decode: decodeRefs,
    failpoint: visit,
    startBlock: 0,
    batchBlocksMax: 4,
    sealGapBlocks: 1_000,
  }
  return { chain, source, sink, lane }
}

/** Repeats the step until the lane has nothing to do. */
export async function settleDown({ lane }: HeadBench): Promise<void> {
  for (let steps = 0; steps < 10_000; steps++) if ((await converge(lane)) === 'idle') return
  throw new Error('the lane does not come to rest')
}

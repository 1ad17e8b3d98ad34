import { onTestFinished } from 'vitest'
import { MillraceError } from '#errors.ts'
import { converge, type HeadLane } from '#ingest/lanes/converge.ts'
import { DEADLINE_MS } from '#ingest/rpc/client/client.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange } from '#ingest/source.ts'
import { hash } from '#primitives.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { FakeChain, type RefBatch } from './fakeChain.ts'
import { memoryNodes, secondOf, type TellBlock, type ToldBlock } from './memoryNodes.ts'
import { MemorySink } from './memorySink.ts'

export const HEAD = 199
export const FINAL = 190
/** The head of another chain. */
export const FAR = 2 ** 40

/** Moves on by itself with every wait, and as far as a test wishes. */
export class SteppedClock implements Clock {
  ms = 0
  now = () => secondOf(HEAD) * 1000 + this.ms
  monotonic = () => this.ms
  async sleep(ms: number): Promise<void> {
    // A deadline that a test's answer always meets.
    if (ms === DEADLINE_MS) return await new Promise(() => {})
    this.ms += ms
    await new Promise(setImmediate)
  }
}

/** A lane that may begin elsewhere, as the store's can. */
class LaneSink extends MemorySink {
  from = 0
  override async seal(next = 0): Promise<void> {
    await super.seal()
    this.from = next
  }
  async emptyFrom(): Promise<number> {
    return this.from
  }
  async restart(next: number): Promise<boolean> {
    this.from = next
    return true
  }
}

async function decode({ range, bytes }: RawRange): Promise<RefBatch> {
  const items: { id: number; result: ToldBlock }[] = JSON.parse(new TextDecoder().decode(bytes))
  const refs = items.flatMap(({ id, result }) =>
    id % 2 === 0 ? [{ ...result, number: Number(result.number) }] : [],
  )
  return { range, refs, byteLength: 1_000 }
}

/** The state with which a program that starts again goes on. */
interface Held {
  readonly chain: FakeChain
  readonly sink: LaneSink
}

function begin(): Held {
  const chain = new FakeChain(HEAD + 1)
  chain.finalized = FINAL
  const sink = new LaneSink()
  sink.from = FINAL + 1
  sink.finalizedNumber = FINAL
  return { chain, sink }
}

/** The real source over lying nodes in memory, and a lane of it. */
export function lyingHeads(
  hosts: readonly string[],
  { chain, sink }: Held = begin(),
  otherwise?: Parameters<typeof memoryNodes>[2],
) {
  const clock = new SteppedClock()
  const told = new Map<string, TellBlock>()
  const source: RpcSource = createSource({
    chainId: 1,
    urls: hosts.map((host) => `http://${host}`),
    finalityDepth: 64,
    runtime: { ...systemRuntime(), clock },
    log: silentLogger,
    openTransport: memoryNodes(chain, told, otherwise),
    announcements: false,
  })
  onTestFinished(() => source.close())
  const problems: unknown[] = []
  const lane: HeadLane<RefBatch> = {
    lane: 'head',
    source,
    sink,
    decode,
    failpoint: () => {},
    startBlock: 0,
    batchBlocksMax: 250,
    sealGapBlocks: 1_200,
  }
  /** Steps, a second apart, whatever comes of each; what was thrown is kept. */
  const steps = async (count: number) => {
    for (let n = 0; n < count; n++) {
      clock.ms += 1_000
      await converge(lane).catch((error: unknown) => problems.push(codeOf(error)))
    }
  }
  return { chain, source, sink, told, steps, clock, problems }
}

const codeOf = (error: unknown): unknown => (error instanceof MillraceError ? error.code : error)

/** A head of another chain, made now; shown also by its number where the liar goes that far. */
export function headOf(number: number, shows: boolean, seconds = secondOf(HEAD)): TellBlock {
  const head = {
    number,
    hash: hash(`0x${'ab'.repeat(32)}`),
    parentHash: hash(`0x${'cd'.repeat(32)}`),
    timestamp: seconds,
  }
  return (at) =>
    at === 'latest' || at === 'finalized' || (shows && Number(at) === number) ? head : undefined
}

// Goal: the head lane, the source and the HTTP client together end equal to a chain that grows,
// forks and misbehaves.
// Method: a recording that grows under the follower, with reorgs at given heights; its forks carry
// no valid roots, so blocks are checked for shape and links only.
import { afterEach, describe, expect } from 'vitest'
import { type FollowEvent, follow } from '#ingest/lanes/follow.ts'
import { fillHistory } from '#ingest/lanes/history.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { ByteBudget } from '../../../ingest/ByteBudget.ts'
import { createSource } from '../../../ingest/rpc/rpcSource.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { fullTest, onceTest } from '../../support/breadth.ts'
import { decodeLinks } from '../support/decodeAnswer.ts'
import { MemoryHistory, MemorySink } from '../support/memorySink.ts'

const runtime = systemRuntime()
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const ahead = () => ({
  windowMax: 4,
  batchBlocksMax: 20,
  batchBytesEstimate: 500_000,
  budget: new ByteBudget(20_000_000),
})

/** Starts a growing chain and a source before it. */
async function growing(...flags: string[]) {
  const replay = await startReplay('--finality', '30', ...flags)
  closers.push(() => replay.close())
  const source = createSource({
    chainId: 42431,
    urls: [replay.url],
    finalityDepth: 30,
    runtime,
    log: silentLogger,
    batchBytesTarget: 300_000,
  })
  closers.push(() => source.close())
  return { replay, source }
}

/**
 * Follows to the last block of the recording. The chain grows by a block whenever the follower has
 * caught up, so that it sees each fork however busy the machine is.
 */
async function followToEnd({ replay, source }: Awaited<ReturnType<typeof growing>>, last: number) {
  const sink = new MemorySink()
  const lane = {
    lane: 'head' as const,
    source,
    sink,
    decode: decodeLinks,
    failpoint: () => {},
    startBlock: 0,
    batchBlocksMax: 20,
    sealGapBlocks: 1_000_000,
  }
  const stop = new AbortController()
  const reverts: number[] = []
  let grownAt = -1
  const observe = (event: FollowEvent) => {
    if (event.type === 'reverted') reverts.push(event.tip.number - (event.fork?.number ?? 0))
    if (event.type !== 'target' || event.head.hash !== event.tip?.hash) return
    if (event.tip.number === last) stop.abort()
    else if (event.tip.number !== grownAt) {
      grownAt = event.tip.number
      void replay.control('replay_advance', 1)
    }
  }
  const end = await follow(lane, { runtime, log: silentLogger, ahead: ahead(), observe }, stop.signal)
  expect(end).toEqual({ reason: 'aborted' })
  await calm(replay)
  return { sink, reverts }
}

const calm = (replay: Replay) =>
  replay.control('replay_set', {
    'fail-429': 0,
    'fail-503': 0,
    drop: 0,
    truncate: 0,
    missing: 0,
    stale: 0,
    behind: 0,
    'rpc-error': 0,
  })

describe('the head lane against a growing node', () => {
  onceTest('reorgs of every depth within finality end in the blocks the node holds', async () => {
    const node = await growing('--head', '40', '--reorg-at', '50:1,60:5,75:20,80:2,81:3,110:12')
    const { sink, reverts } = await followToEnd(node, 122)
    expect(reverts.length).toBeGreaterThanOrEqual(5)
    expect(Math.max(...reverts)).toBe(19)
    for (const block of sink.blocks) expect(await node.source.blockRef(block.number)).toEqual(block)
  })

  fullTest(
    'a node with every fault at once is followed to the end without a wrong or missing block',
    async () => {
      const faults = ['--fail-503', '0.05', '--drop', '0.05', '--truncate', '0.03', '--rpc-error', '0.02']
      const lies = ['--missing', '0.1', '--stale', '0.1', '--behind', '0.2', '--jitter', '20']
      const node = await growing('--head', '90', '--reorg-at', '100:4,110:9', ...faults, ...lies)
      const { sink } = await followToEnd(node, 122)
      for (const block of sink.blocks) expect(await node.source.blockRef(block.number)).toEqual(block)
      expect(sink.blocks.map(({ number }) => number)).toEqual(
        Array.from({ length: sink.blocks.length }, (_, i) => 123 - sink.blocks.length + i),
      )
    },
  )

  onceTest('history fills below the head lane while the node grows', async () => {
    const { source } = await growing('--head', '100', '--block-time', '40', '--drop', '0.05')
    const { finalized } = await source.head()
    const sink = new MemoryHistory(16)
    const lane = { lane: 'history' as const, source, sink, decode: decodeLinks, failpoint: () => {} }
    const options = { runtime, log: silentLogger, ahead: ahead(), chunksMax: 2 }
    await fillHistory(lane, { from: 0, to: finalized }, options, new AbortController().signal)
    expect(sink.covered).toEqual([{ from: 0, to: finalized }])
    expect(sink.attached.size).toBe(finalized + 1)
  })
})

// Goal: nodes without old blocks, among several behind one address, slow history and do not stop it;
// where nobody holds a block, the first one that all hold is named (W6).
// Method: the real source over nodes in memory, of which each request meets one by chance, on a
// clock that jumps.
import { expect, onTestFinished, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import type { OpenTransport, Transport } from '#ingest/rpc/client/client.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { seedOf } from '../../support/seed.ts'
import { FakeChain } from '../support/fakeChain.ts'
import { SteppedClock } from '../support/lyingHeads.ts'
import { headerOf } from '../support/memoryNodes.ts'
import type { NodeCall } from '../support/proxyNode.ts'
import { seededRandom } from '../support/random.ts'

const FINAL = 3_990
const END = 2_900

/** How a node answers for a block it has dropped. */
type Lacks = 'says so' | 'null'

/** @param firsts the first block that each of the nodes behind the address still has */
function balancer(firsts: readonly number[], lacks: Lacks) {
  const chain = new FakeChain(4_000)
  chain.finalized = FINAL
  const random = seededRandom(seedOf(7))
  const answer = (first: number, { id, method, params }: NodeCall) => {
    const [at] = params
    const isGone = method !== 'eth_chainId' && Number(at) > 0 && Number(at) < first
    if (isGone && lacks === 'says so')
      return { jsonrpc: '2.0', id, error: { code: 4444, message: 'pruned history unavailable' } }
    const block =
      at === 'latest' ? chain.head : at === 'finalized' ? chain.blocks[FINAL] : chain.blocks[Number(at)]
    const told = { eth_chainId: '0x1', eth_getBlockReceipts: isGone ? null : [] }
    return {
      jsonrpc: '2.0',
      id,
      result: method in told ? Object(told)[method] : isGone ? null : headerOf(block),
    }
  }
  const open: OpenTransport = () =>
    ({
      dispatch: (options: { body?: unknown }, handler: Parameters<Transport['dispatch']>[1]) => {
        const first = firsts[Math.floor(random() * firsts.length)] ?? 0
        const calls: NodeCall | NodeCall[] = JSON.parse(String(options.body))
        const told = Array.isArray(calls) ? calls.map((call) => answer(first, call)) : answer(first, calls)
        const bytes = Buffer.from(JSON.stringify(told))
        const controller = { abort() {}, pause() {}, resume() {} } as never
        setImmediate(() => {
          handler.onRequestStart?.(controller, {})
          handler.onResponseStart?.(controller, 200, { 'content-length': String(bytes.length) }, '')
          handler.onResponseData?.(controller, bytes)
          handler.onResponseEnd?.(controller, {})
        })
        return true
      },
      destroy: async () => {},
    }) as Transport
  return open
}

function sourceOver(firsts: readonly number[], lacks: Lacks): RpcSource {
  const source = createSource({
    chainId: 1,
    urls: ['http://balancer'],
    finalityDepth: 64,
    runtime: { ...systemRuntime(), clock: new SteppedClock(), random: seededRandom(seedOf(7)) },
    log: silentLogger,
    openTransport: balancer(firsts, lacks),
    announcements: false,
  })
  onTestFinished(() => source.close())
  return source
}

/** Reads as a lane does: what may pass is tried again. @returns how often it had to */
async function readHistory(source: RpcSource): Promise<number> {
  let failures = 0
  for (let from = 0; from <= END; ) {
    try {
      from = (await source.fetch({ from, to: Math.min(END, from + 3) })).range.to + 1
    } catch (error) {
      if (!(error instanceof MillraceError) || error.remedy !== 'retry') throw error
      failures++
    }
  }
  return failures
}

const manners: readonly Lacks[] = ['says so', 'null']

test.each(manners)(
  'one of two nodes behind an address lacks old blocks and %s: history is read to its end (W6)',
  async (lacks) => {
    const source = sourceOver([0, 3_000], lacks)
    await source.head()
    expect(await readHistory(source)).toBeGreaterThan(0)
    expect(source.notes.join()).toMatch(/some of the nodes behind RPC_URL/)
  },
)

test.each(manners)(
  'three of four nodes lack old blocks and %s: what one answer held is not called gone (W6)',
  async (lacks) => {
    const source = sourceOver([0, 3_000, 3_000, 3_000], lacks)
    await source.head()
    // Until then nothing tells a pruned address from this one.
    while (!(await source.fetch({ from: 1, to: 4 }).catch(() => null))) {}
    expect(await readHistory(source)).toBeGreaterThan(0)
  },
)

test.each(manners)(
  'all nodes lack old blocks, one more of them, and %s: the first block that all hold is named (W6)',
  async (lacks) => {
    const source = sourceOver([2_000, 3_000], lacks)
    await source.head()
    await expect(source.fetch({ from: 30, to: 33 })).rejects.toMatchObject({
      code: 'history_pruned',
      blockNumber: 30,
      earliest: 3_000,
      remedy: 'stop',
    })
  },
)

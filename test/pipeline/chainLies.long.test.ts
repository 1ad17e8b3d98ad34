// Goal: a node that lies about its head, its finality, its limits or its identity gets nothing wrong committed, and the chain
// is whole by itself when it stops (ING-05: L8, L9, L10, L13 and L15; the others are in lies.long.test.ts).
// Method: one or two proxies before the replayed recording; the whole pipeline on real engines, while it fills history and
// while it follows the head; what is held is compared with the recording during the lie and after it.
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime.ts'
import { readCoverage, readLane } from '#store/lane.ts'
import { silentLogger } from '#telemetry.ts'
import {
  type FakeNode,
  forward,
  type NodeAnswer,
  type NodeCall,
  startNode,
} from '../ingest/support/proxyNode.ts'
import { type Replay, startReplay } from '../ingest/support/replay.ts'
import { expectInClickHouse, expectInPostgres } from '../store/support/expectHeld.ts'
import { freshDatabase } from '../support/engines.ts'
import { loadRecordedChain } from '../support/recordedChain.ts'
import { describeWithShared } from '../support/shared.ts'
import { encoded, type IndexedChain, openIndexedChain } from './support/indexedChain.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const NODE_CHAIN_ID = 42431
const [HEAD, LAST, FINALITY] = [60, 80, 5]
const LIE_MS = 3_000
const healed = { timeout: 60_000, interval: 100 }

/** What the lying endpoint answers; undefined for the truth. */
type Lie = (call: NodeCall, truth: (call: NodeCall) => Promise<NodeAnswer>) => Promise<NodeAnswer | undefined>

const quantity = (number: number) => `0x${number.toString(16)}`
const isAbout = ({ method, params }: NodeCall, tag: string) =>
  method === 'eth_getBlockByNumber' && params[0] === tag
/** The tag answered as if it were at another height. */
const at =
  (tag: string, height: number): Lie =>
  async (call, truth) =>
    isAbout(call, tag) ? truth({ ...call, params: [quantity(height), ...call.params.slice(1)] }) : undefined
const numberOf = ({ params }: NodeCall): number => Number(params[0])
const refused = (code: number, message: string): NodeAnswer => ({ error: { code, message } })

const lies: Readonly<Record<string, Lie>> = {
  'a head that goes back (L8)': at('latest', HEAD - 12),
  'finality that goes back (L9)': at('finalized', 3),
  'finality above the head (L9)': async (call, truth) =>
    isAbout(call, 'latest') ? truth({ ...call, params: [quantity(HEAD - FINALITY - 4), false] }) : undefined,
  'an endpoint that is behind and has no block at our finality (L10)': async (call) =>
    call.method === 'eth_getBlockByNumber' && numberOf(call) > HEAD - 15 ? { result: null } : undefined,
  'answers said to be too large (L13)': async (call) =>
    call.method === 'eth_getBlockReceipts' && numberOf(call) % 3 > 0
      ? refused(-32_005, 'response too large')
      : undefined,
  'a limit of the range (L13)': async (call) =>
    call.method === 'eth_getBlockReceipts' && numberOf(call) > HEAD
      ? refused(-32_602, 'block range is too large, limited to 1')
      : undefined,
  'another chain id (L15)': async ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined),
  'another genesis (L15)': async (call, truth) =>
    call.method === 'eth_getBlockByNumber' && numberOf(call) === 0
      ? truth({ ...call, params: ['0x1', ...call.params.slice(1)] })
      : undefined,
}

describeWithShared('a node that lies about its chain', () => {
  let replay: Replay
  let liar: FakeNode
  let honest: FakeNode
  let lie: Lie | null = null
  let told = 0

  beforeAll(async () => {
    const truth = (call: NodeCall) => forward(replay.url, call)
    honest = await startNode({ call: truth })
    liar = await startNode({
      call: async (call) => {
        const answer = await lie?.(call, truth)
        if (answer) told++
        return answer ?? truth(call)
      },
    })
  })
  afterAll(async () => {
    await liar?.close()
    await honest?.close()
  })

  /** `backfill`: it lies from the first block on. `tip`: once history is whole and the head moves. */
  async function expectHealed(tell: Lie, when: 'backfill' | 'tip', isIdentity: boolean): Promise<void> {
    told = 0
    lie = null
    replay = await startReplay('--shape', 'anvil', '--head', `${HEAD}`, '--finality', `${FINALITY}`)
    onTestFinished(() => replay.close())
    const recorded = await loadRecordedChain('tempo-dev-2k', LAST, FINALITY)
    const source = createSource({
      chainId: NODE_CHAIN_ID,
      urls: [liar.url, honest.url],
      finalityDepth: FINALITY,
      runtime: systemRuntime(),
      log: silentLogger,
      batchBlocksMax: 10,
    })
    const indexed = await openIndexedChain({ access: await freshDatabase(), recorded, source })
    onTestFinished(() => indexed.close())
    const { pool } = indexed.postgres
    const coverage = (store: 'postgres' | 'clickhouse') => readCoverage(pool, indexed.schema, store)
    if (when === 'backfill') lie = tell
    await indexed.chain.start()
    if (when === 'backfill' && isIdentity) return expectStopped(indexed)
    if (when === 'tip') {
      await expect.poll(() => coverage('postgres'), healed).toEqual([{ from: 0, to: HEAD }])
      lie = tell
    }
    await replay.control('replay_advance', LAST - HEAD)
    await new Promise((resolve) => setTimeout(resolve, LIE_MS))
    const { rows } = await pool.query<{ num: number; hash: Buffer }>(
      `SELECT num, hash FROM ${indexed.schema}.blocks ORDER BY num`,
    )
    for (const { num, hash } of rows) expect(`0x${hash.toString('hex')}`).toBe(recorded.refAt(num).hash)
    expect((await readLane(pool, indexed.schema))?.finalized ?? -1).toBeLessThanOrEqual(LAST - FINALITY)
    lie = null
    const [all, final] = [
      { from: 0, to: LAST },
      { from: 0, to: LAST - FINALITY },
    ]
    await expect.poll(() => coverage('postgres'), healed).toEqual([all])
    await expect.poll(() => coverage('clickhouse'), healed).toEqual([final])
    await expect.poll(() => indexed.chain.headStatus.state, healed).toBe('running')
    await expectInPostgres(indexed, [encoded(recorded, all)])
    await expectInClickHouse(indexed, [encoded(recorded, final)])
  }

  /** Endpoints of two chains are a wrong setting: nothing is written, and a person has to act. */
  async function expectStopped({ chain, postgres, schema }: IndexedChain): Promise<void> {
    await expect.poll(() => chain.headStatus.state, healed).toBe('stopped')
    for (const store of ['postgres', 'clickhouse'] as const)
      expect(await readCoverage(postgres.pool, schema, store)).toEqual([])
  }

  for (const when of ['backfill', 'tip'] as const)
    test.each(Object.keys(lies))(`%s, at the ${when}`, async (name) => {
      const tell = lies[name]
      if (!tell) throw new Error('the lie is in the table')
      const isIdentity = name.includes('L15')
      await expectHealed(tell, when, isIdentity)
      // Identity is asked for when an endpoint is met, which is before the lie begins at the tip.
      if (when === 'backfill' || !isIdentity) expect(told).toBeGreaterThan(0)
    })
})

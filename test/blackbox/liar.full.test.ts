// Goal: a deployment with one lying endpoint among two keeps the contract, and ends equal to one with
// the honest endpoint alone (L21 to L33).
// Method: the black box against a program whose first endpoint tells each class of lie in turn; every
// block of it compared, in both stores, with a program that was told the truth.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Replay, startReplay } from '../chain/startReplay.ts'
import {
  type FakeNode,
  forward,
  type NodeAnswer,
  type NodeCall,
  startNode,
} from '../ingest/support/proxyNode.ts'
import {
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  until,
} from '../program/support/millrace.ts'
import { runBlackbox } from './blackbox.ts'

const CHAIN_ID = 42431
const LAST = 122

type Told = Record<string, unknown>
type Lie = (call: NodeCall, truth: Told) => unknown

const isBlock = ({ method }: NodeCall) => method.startsWith('eth_getBlockBy')
const isTag = (at: unknown) => typeof at === 'string' && !at.startsWith('0x')
const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)
const changed =
  (of: (block: Told) => Told): Lie =>
  (call, truth) =>
    isBlock(call) ? { ...truth, ...of(truth) } : truth

/** Each class of lie; heights past the chain for the tags alone. */
const lies: Readonly<Record<string, Lie>> = {
  'a head far away': ({ params: [tag] }, truth) =>
    tag === 'latest' ? { ...truth, number: '0x10000000000' } : truth,
  'finality far away': ({ params: [tag] }, truth) =>
    tag === 'finalized' || tag === 'safe' ? { ...truth, number: '0xffffff' } : truth,
  'an invented field': changed(() => ({ inventedRoot: `0x${'ab'.repeat(32)}`, gasUsed: '0x1' })),
  'a number no column holds': changed(() => ({ size: `0x1${'0'.repeat(16)}` })),
  'nested too deep': changed(() => ({ extra: deep })),
  'another type of transaction': changed(({ transactions }) => ({
    transactions: (transactions as Told[]).map((tx) =>
      typeof tx === 'object' ? { ...tx, type: '0x99', value: '0xffff' } : tx,
    ),
  })),
  'other logs': ({ method }, truth) =>
    method === 'eth_getBlockReceipts' && Array.isArray(truth)
      ? truth.map((receipt: Told) => ({ ...receipt, logs: [] }))
      : truth,
  'no block at all': (call, truth) => (isBlock(call) ? null : truth),
}

describe('a deployment beside a liar', () => {
  const dataDirs = [freshDataDir(CHAIN_ID), freshDataDir(CHAIN_ID)] as const
  const told = new Map<string, number>()
  let replay: Replay
  let liar: FakeNode
  let beside: RunningMillrace
  let honest: RunningMillrace

  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo')
    // Each kind of question has turns of its own: of one for all, heads might always get the same.
    const turns = new Map<string, number>()
    const answer = async (call: NodeCall): Promise<NodeAnswer> => {
      const truth = await forward(replay.url, call)
      if (!('result' in truth) || typeof truth.result !== 'object' || truth.result === null) return truth
      const names = Object.keys(lies)
      const kind = `${call.method} ${isTag(call.params[0]) ? call.params[0] : ''}`
      const turn = turns.get(kind) ?? 0
      turns.set(kind, turn + 1)
      const name = names[turn % names.length] ?? ''
      const result = lies[name]?.(call, truth.result as Told)
      if (result !== truth.result) told.set(name, (told.get(name) ?? 0) + 1)
      return { result }
    }
    liar = await startNode({ call: answer })
    const urls = [`${liar.url},${replay.url}`, replay.url]
    ;[beside, honest] = await Promise.all([
      startMillrace({ DATA_DIR: dataDirs[0].path, RPC_URL: urls[0] ?? '' }),
      startMillrace({ DATA_DIR: dataDirs[1].path, RPC_URL: urls[1] ?? '' }),
    ])
    for (const { origin } of [beside, honest])
      await until(async () => (await get(`${origin}/ready`)).status === 200)
  })
  afterAll(async () => {
    await beside?.stop()
    await honest?.stop()
    await liar?.close()
    await replay?.close()
    for (const dataDir of dataDirs) dataDir.remove()
  })

  test('it was told every class of lie, and holds what the honest one holds', async () => {
    // Which lie an answer gets is its turn: a quick start may end before heads had all of theirs.
    await until(async () => Object.keys(lies).every((name) => told.has(name)))
    for (const program of [beside, honest]) {
      await until(async () => {
        const chain = await chainOf(program, CHAIN_ID)
        return Object(chain)['stores'].clickhouse.tip >= Object(chain)['finalized']
      })
      expect(await chainOf(program, CHAIN_ID)).toMatchObject({
        head: LAST,
        coverage: [{ from: 0, to: LAST }],
      })
    }
    const final = Object(await chainOf(honest, CHAIN_ID))['finalized']
    const digestOf = async ({ origin }: RunningMillrace) =>
      get(`${origin}/v1/indexer/digest?from=0&to=${final}`)
    const [one, other] = [await digestOf(beside), await digestOf(honest)]
    expect([one.status, one.body]).toEqual([200, other.body])
  })

  test('the black box finds nothing', async () => {
    for (const only of ['/v1/blocks', '/v1/transactions', '/v1/transfers']) {
      const results = await runBlackbox(beside.origin, { only })
      expect(results.filter(({ failures }) => failures.length > 0)).toEqual([])
      expect(results.length).toBeGreaterThan(0)
    }
  })
})

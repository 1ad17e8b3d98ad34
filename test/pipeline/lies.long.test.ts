// Goal: a node that lies, in each way seen in the wild, gets nothing wrong committed, neither into history nor at the head;
// when it stops lying the chain is whole by itself (ING-05).
// Method: a proxy before the replayed recording changes its answers about one block of history and one above the head; the
// whole pipeline on real engines; what is held is compared with the recording during the lie and after it.
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime.ts'
import { readCoverage } from '#store/lane.ts'
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
import { loadRecordedChain, type RecordedChain } from '../support/recordedChain.ts'
import { describeWithShared } from '../support/shared.ts'
import { encoded, openIndexedChain } from './support/indexedChain.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const NODE_CHAIN_ID = 42431
const [HEAD, LAST, FINALITY] = [60, 80, 5]
/** Far below the head lane, and the first block after the start. */
const lieAt = [20, HEAD + 1]
const LIE_MS = 3_000
const healed = { timeout: 60_000, interval: 100 }

type Fields = Record<string, unknown>
type Log = Fields
interface Receipt extends Fields {
  logs: Log[]
}
interface Block extends Fields {
  transactions: Fields[]
}

/** Changes a copy of the true answer about a block. */
interface Lie {
  readonly block?: (block: Block) => unknown
  readonly receipts?: (receipts: Receipt[]) => unknown
}

const first = <Item>(items: readonly Item[]): Item => {
  const [item] = items
  if (!item) throw new Error('the recorded block is empty')
  return item
}
const withLogs = (receipts: readonly Receipt[]): Receipt =>
  first(receipts.filter(({ logs }) => logs.length > 0))
const flipped = (hex: unknown): string =>
  `${String(hex).slice(0, -1)}${String(hex).endsWith('0') ? '1' : '0'}`
/** Changes fields in place and gives the whole back. */
const changed =
  <Whole, Part extends Fields>(part: (whole: Whole) => Part, change: (part: Part) => Fields) =>
  (whole: Whole): Whole => {
    const found = part(whole)
    Object.assign(found, change(found))
    return whole
  }
const ofBlock = (change: (block: Block) => Fields): Lie => ({
  block: changed((block: Block) => block, change),
})
const ofTx = (change: (tx: Fields) => Fields): Lie => ({
  block: changed((block: Block) => first(block.transactions), change),
})
const ofReceipt = (change: (receipt: Receipt) => Fields): Lie => ({ receipts: changed(withLogs, change) })
const ofLog = (change: (log: Log) => Fields): Lie => ({
  receipts: changed((receipts: Receipt[]) => first(withLogs(receipts).logs), change),
})

const lies: Readonly<Record<string, Lie>> = {
  'no block at a height below the head': { block: () => null },
  'no receipts': { receipts: () => null },
  'a receipt that is null': { receipts: (receipts) => [null, ...receipts.slice(1)] },
  'the last receipt missing': { receipts: (receipts) => receipts.slice(0, -1) },
  'receipts in another order': { receipts: (receipts) => receipts.toReversed() },
  'another gas figure in a receipt': ofReceipt(({ cumulativeGasUsed }) => ({
    cumulativeGasUsed: flipped(cumulativeGasUsed),
  })),
  'a failed transaction told as done': ofReceipt(({ status }) => ({
    status: status === '0x1' ? '0x0' : '0x1',
  })),
  'no logs': ofReceipt(() => ({ logs: [] })),
  'one log less': ofReceipt(({ logs }) => ({ logs: logs.slice(1) })),
  'receipts of a sibling block': ofReceipt(({ blockHash }) => ({ blockHash: flipped(blockHash) })),
  'another amount in a log': ofLog(({ data }) => ({ data: flipped(data) })),
  'another contract in a log': ofLog(({ address }) => ({ address: flipped(address) })),
  'another place of a log': ofLog(() => ({ logIndex: '0x63' })),
  'a block of another branch': ofBlock(({ parentHash }) => ({ parentHash: flipped(parentHash) })),
  'a block with another hash': ofBlock(({ hash }) => ({ hash: flipped(hash) })),
  'another time': ofBlock(({ timestamp }) => ({ timestamp: flipped(timestamp) })),
  'an empty bloom': ofBlock(() => ({ logsBloom: `0x${'00'.repeat(256)}` })),
  'a quantity without digits': ofBlock(() => ({ gasUsed: '0x' })),
  'a quantity with leading zeros': ofBlock(({ gasUsed }) => ({ gasUsed: `0x00${String(gasUsed).slice(2)}` })),
  'a transaction less': { block: (block) => ({ ...block, transactions: block.transactions.slice(1) }) },
  'a transaction with another hash': ofTx(({ hash }) => ({ hash: flipped(hash) })),
  'a transaction with another input': ofTx(({ input }) => ({ input: `${input}00` })),
  'a transaction with another nonce': ofTx(() => ({ nonce: '0xffff' })),
}

describeWithShared('a lying node', () => {
  let replay: Replay
  let node: FakeNode
  let lie: Lie | null = null
  let told = 0
  /** What a node does to whole requests. */
  let garble: ((body: readonly Fields[]) => string) | null = null

  beforeAll(async () => {
    node = await startNode({
      call: async (call) => answerTo(call),
      request: async (calls, response) => {
        if (!garble || !Array.isArray(calls) || !calls.some(isAboutLie)) return false
        told++
        const answers = await Promise.all(
          calls.map(async (call) => ({ jsonrpc: '2.0', id: call.id, ...(await forward(replay.url, call)) })),
        )
        response.setHeader('content-type', 'application/json').end(garble(answers))
        return true
      },
    })
  })
  afterAll(() => node?.close())

  const isAboutLie = ({ method, params }: NodeCall): boolean =>
    /eth_getBlock(ByNumber|Receipts)/.test(method) && lieAt.includes(Number(params[0]))

  async function answerTo(call: NodeCall): Promise<NodeAnswer> {
    const answer = await forward(replay.url, call)
    if (!lie || !isAboutLie(call) || !('result' in answer)) return answer
    const change = call.method === 'eth_getBlockReceipts' ? lie.receipts : lie.block
    // A header alone is asked for to compare; the lie is about what is ingested.
    if (!change || (call.method === 'eth_getBlockByNumber' && call.params[1] !== true)) return answer
    told++
    return { result: change(structuredClone(answer.result) as never) }
  }

  async function expectHealed(): Promise<void> {
    told = 0
    replay = await startReplay('--shape', 'anvil', '--head', String(HEAD), '--finality', String(FINALITY))
    onTestFinished(() => replay.close())
    const recorded = await loadRecordedChain('tempo-dev-2k', LAST, FINALITY)
    const access = await freshDatabase()
    const source = createSource({
      chainId: NODE_CHAIN_ID,
      urls: [node.url],
      finalityDepth: FINALITY,
      runtime: systemRuntime(),
      log: silentLogger,
      batchBlocksMax: 10,
    })
    const indexed = await openIndexedChain({ access, recorded, source })
    onTestFinished(() => indexed.close())
    await indexed.chain.start()
    await replay.control('replay_advance', LAST - HEAD)
    await expect.poll(() => told, healed).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, LIE_MS))
    await expectTrue(indexed, recorded)
    lie = null
    garble = null
    const all = { from: 0, to: LAST }
    await expect
      .poll(() => readCoverage(indexed.postgres.pool, indexed.schema, 'postgres'), healed)
      .toEqual([all])
    const final = { from: 0, to: LAST - FINALITY }
    await expect
      .poll(() => readCoverage(indexed.postgres.pool, indexed.schema, 'clickhouse'), healed)
      .toEqual([final])
    await expectInPostgres(indexed, [encoded(recorded, all)])
    await expectInClickHouse(indexed, [encoded(recorded, final)])
  }

  /** Nothing held now is anything but the recording's. */
  async function expectTrue(
    indexed: Awaited<ReturnType<typeof openIndexedChain>>,
    recorded: RecordedChain,
  ): Promise<void> {
    const { rows } = await indexed.postgres.pool.query<{ num: number; hash: Buffer }>(
      `SELECT num, hash FROM ${indexed.schema}.blocks ORDER BY num`,
    )
    for (const { num, hash } of rows) expect(`0x${hash.toString('hex')}`).toBe(recorded.refAt(num).hash)
    const held = await readCoverage(indexed.postgres.pool, indexed.schema, 'postgres')
    for (const number of lieAt)
      expect(held.some(({ from, to }) => from <= number && number <= to)).toBe(false)
  }

  test.each(Object.keys(lies))('%s', async (name) => {
    lie = lies[name] ?? null
    await expectHealed()
  })

  test.each<[string, (answers: readonly Fields[]) => string]>([
    [
      'one error for a whole batch',
      () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"later"}}',
    ],
    ['an answer missing from a batch', (answers) => JSON.stringify(answers.slice(1))],
    ['an answer twice in a batch', (answers) => JSON.stringify([...answers.slice(1), answers[1]])],
    ['an answer that ends in the middle', (answers) => JSON.stringify(answers).slice(0, -200)],
    ['a page of HTML', () => '<html>Bad gateway</html>'],
  ])('%s', async (_name, change) => {
    garble = change
    await expectHealed()
  })
})

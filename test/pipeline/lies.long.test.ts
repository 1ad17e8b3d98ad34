// Goal: a node that lies about a block, in each way seen in the wild, gets nothing wrong committed,
// neither into history nor at the head; when it stops lying the chain is whole by itself (ING-05).
// L1 to L20 as in the catalogue of test/README.md; lies about the chain as a whole are in
// chainLies.long.test.ts.
// Method: a proxy before the replayed recording changes its answers about one block of history and
// one above the head; the whole pipeline on real engines; what is held is compared with the
// recording during the lie and after it.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { NodeCall } from '../ingest/support/proxyNode.ts'
import { HEAD, healed, LAST, LIE_MS, LyingNode, type TellCall } from './support/lyingNode.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

/** Far below the head lane, and the first block after the start. */
const lieAt = [20, HEAD + 1]

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
/** From an account that did not sign it. */
const stolen = (): Fields => ({ from: `0x${'5'.repeat(40)}` })
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
  'no block at a height below the head (L1)': { block: () => null },
  'no receipts (L2)': { receipts: () => null },
  'a receipt that is null (L2)': { receipts: (receipts) => [null, ...receipts.slice(1)] },
  'the last receipt missing (L3)': { receipts: (receipts) => receipts.slice(0, -1) },
  'another receipts root (L4)': ofBlock(({ receiptsRoot }) => ({ receiptsRoot: flipped(receiptsRoot) })),
  'receipts in another order': { receipts: (receipts) => receipts.toReversed() },
  'another gas figure in a receipt': ofReceipt(({ cumulativeGasUsed }) => ({
    cumulativeGasUsed: flipped(cumulativeGasUsed),
  })),
  'a failed transaction told as done': ofReceipt(({ status }) => ({
    status: status === '0x1' ? '0x0' : '0x1',
  })),
  'no logs (L5)': ofReceipt(() => ({ logs: [] })),
  'one log less (L5)': ofReceipt(({ logs }) => ({ logs: logs.slice(1) })),
  'receipts of a sibling block (L6)': ofReceipt(({ blockHash }) => ({ blockHash: flipped(blockHash) })),
  'another amount in a log (L11)': ofLog(({ data }) => ({ data: flipped(data) })),
  'another contract in a log': ofLog(({ address }) => ({ address: flipped(address) })),
  'another place of a log (L17)': ofLog(() => ({ logIndex: '0x63' })),
  'a block of another branch': ofBlock(({ parentHash }) => ({ parentHash: flipped(parentHash) })),
  'a block with another hash': ofBlock(({ hash }) => ({ hash: flipped(hash) })),
  'another time': ofBlock(({ timestamp }) => ({ timestamp: flipped(timestamp) })),
  'an empty bloom (L18)': ofBlock(() => ({ logsBloom: `0x${'00'.repeat(256)}` })),
  'a quantity without digits (L16)': ofBlock(() => ({ gasUsed: '0x' })),
  'a quantity with leading zeros (L16)': ofBlock(({ gasUsed }) => ({
    gasUsed: `0x00${String(gasUsed).slice(2)}`,
  })),
  'a quantity in decimals (L16)': ofBlock(({ gasUsed }) => ({ gasUsed: String(Number(gasUsed)) })),
  'a height beyond 2^53 (L16)': ofBlock(() => ({ number: '0x20000000000001' })),
  'a log index twice (L17)': {
    receipts: (receipts) => {
      const [one, two] = receipts.flatMap(({ logs }) => logs)
      if (!one || !two) throw new Error('the recorded block has two logs')
      two['logIndex'] = one['logIndex']
      return receipts
    },
  },
  'a gap in the transaction indexes (L17)': ofReceipt(({ transactionIndex }) => ({
    transactionIndex: `0x${(Number(transactionIndex) + 1).toString(16)}`,
  })),
  'a transaction less': { block: (block) => ({ ...block, transactions: block.transactions.slice(1) }) },
  'a transaction with another hash (L20)': ofTx(({ hash }) => ({ hash: flipped(hash) })),
  'a transaction of another sender (L20)': {
    block: changed((block: Block) => first(block.transactions), stolen),
    receipts: changed((receipts: Receipt[]) => first(receipts), stolen),
  },
  'a transaction with another input': ofTx(({ input }) => ({ input: `${input}00` })),
  'a transaction with another nonce': ofTx(() => ({ nonce: '0xffff' })),
}

/** The same bytes in another order are the truth; they may be taken. */
const harmless = 'answers in another order (L12)'

const garbled: Readonly<Record<string, (answers: readonly Fields[]) => string>> = {
  'one error for a whole batch (L12)': () =>
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"later"}}',
  'an answer missing from a batch (L12)': (answers) => JSON.stringify(answers.slice(1)),
  'an answer twice in a batch (L12)': (answers) => JSON.stringify([...answers.slice(1), answers[1]]),
  [harmless]: (answers) => JSON.stringify(answers.toReversed()),
  'an answer that ends in the middle (L14)': (answers) => JSON.stringify(answers).slice(0, -200),
  'a page of HTML (L14)': () => '<html>Bad gateway</html>',
}

const isAboutLie = ({ method, params }: NodeCall): boolean =>
  /eth_getBlock(ByNumber|Receipts)/.test(method) && lieAt.includes(Number(params[0]))

const telling =
  (lie: Lie): TellCall =>
  async (call, truth) => {
    const change = call.method === 'eth_getBlockReceipts' ? lie.receipts : lie.block
    // A header alone is asked for to compare; the lie is about what is ingested.
    if (!change || !isAboutLie(call) || (change === lie.block && call.params[1] !== true)) return undefined
    const answer = await truth(call)
    return 'result' in answer ? { result: change(structuredClone(answer.result) as never) } : answer
  }

describe('a node that lies about a block, in history and at the head', () => {
  const node = new LyingNode()
  beforeAll(() => node.open())
  afterAll(() => node.close())

  const garbling = (change: (answers: readonly Fields[]) => string): LyingNode['request'] => {
    return async (calls, response) => {
      if (!Array.isArray(calls) || !calls.some(isAboutLie)) return false
      node.told++
      const answers = await Promise.all(
        calls.map(async (call) => ({ jsonrpc: '2.0', id: call.id, ...(await node.truth(call)) })),
      )
      response.setHeader('content-type', 'application/json').end(change(answers))
      return true
    }
  }

  async function expectHealed(isHarmless = false): Promise<void> {
    const liedTo = await node.openLiedTo({ besideHonest: false })
    await liedTo.indexed.chain.start()
    await node.replay.control('replay_advance', LAST - HEAD)
    await expect.poll(() => node.told, healed).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, LIE_MS))
    await liedTo.expectTrue()
    const held = await liedTo.coverage('postgres')
    for (const number of isHarmless ? [] : lieAt)
      expect(held.some(({ from, to }) => from <= number && number <= to)).toBe(false)
    node.beHonest()
    await liedTo.expectWhole()
  }

  test.each(Object.entries(lies))('%s', async (_name, lie) => {
    node.tell = telling(lie)
    await expectHealed()
  })

  test.each(Object.entries(garbled))('%s', async (name, change) => {
    node.request = garbling(change)
    await expectHealed(name === harmless)
  })
})

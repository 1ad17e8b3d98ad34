// Goal: what one range, or several calls together, may cost an endpoint and us is bounded in every way
// they can be asked for.
// Method: nodes without batches, and without eth_getBlockReceipts, that answer too much.
// Invariant: I8.
import { afterEach, expect, test, vi } from 'vitest'
import { RpcClient } from '#ingest/rpc/client/client.ts'
import { parseEndpointUrl } from '#ingest/rpc/client/endpointUrl.ts'
import { requestRange } from '#ingest/rpc/ranges/rangeRequest.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { type FakeNode, type NodeBehaviour, startNode } from '../support/proxyNode.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function clientOf(call: NodeBehaviour['call']): Promise<{ node: FakeNode; client: RpcClient }> {
  const node = await startNode({ call })
  const client = new RpcClient(parseEndpointUrl(node.url), systemRuntime().clock, 4)
  closers.push(
    () => node.close(),
    () => client.close(),
  )
  return { node, client }
}

const hash = (nth: number) => `0x${nth.toString(16).padStart(64, '0')}`
const block = (number: unknown, transactions: number, gasLimit: string) => ({
  ...{ number, hash: hash(1), parentHash: hash(0), gasLimit },
  transactions: Array.from({ length: transactions }, (_, nth) => ({ hash: hash(nth) })),
})
const megabyte = 'ff'.repeat(1 << 19)
const range = { from: 0, to: 39 }

test.each([
  ['calls one by one', { batches: false, blockReceipts: true }],
  ['receipts one by one', { batches: true, blockReceipts: false }],
  ['both', { batches: false, blockReceipts: false }],
])('%s: answers for a range that are too long together are refused', async (_title, abilities) => {
  const { client, node } = await clientOf(({ method, params }) => ({
    result:
      method === 'eth_getBlockByNumber'
        ? { ...block(params[0], 2, '0x1c9c380'), extraData: megabyte.slice(0, 64) }
        : { filler: megabyte },
  }))
  await expect(requestRange(client, range, abilities)).rejects.toMatchObject({ failure: 'too_large' })
  expect(client.cost.receivedBytes).toBeLessThan(64 << 20)
  expect(node.calls.get('eth_getBlockReceipts') ?? 0).toBeLessThan(40)
})

test('no more receipts are asked for than the limit of gas has transactions', async () => {
  const { client, node } = await clientOf(({ params }) => ({ result: block(params[0], 20_000, '0x1c9c380') }))
  const asked = requestRange(client, { from: 0, to: 0 }, { batches: true, blockReceipts: false })
  await expect(asked).rejects.toMatchObject({ failure: 'malformed' })
  expect(node.calls.get('eth_getTransactionReceipt')).toBeUndefined()
})

test('nor more than any range may have, whatever limit of gas a block names', async () => {
  const { client, node } = await clientOf(({ params }) => ({
    result: block(params[0], 60_000, '0x7fffffffffffffff'),
  }))
  const asked = requestRange(client, { from: 0, to: 0 }, { batches: true, blockReceipts: false })
  await expect(asked).rejects.toMatchObject({ failure: 'too_large' })
  expect(node.calls.get('eth_getTransactionReceipt')).toBeUndefined()
})

test('a block within its limit of gas, and what the chain itself adds, is fetched', async () => {
  const { client } = await clientOf(({ method, params }) => ({
    result: method === 'eth_getBlockByNumber' ? block(params[0], 3, '0x5208') : { filler: '0x' },
  }))
  const bytes = await requestRange(client, { from: 0, to: 3 }, { batches: true, blockReceipts: false })
  expect(JSON.parse(Buffer.from(bytes).toString())).toHaveLength(8)
})

test.each([
  ['one by one', false],
  ['in a batch', true],
])('several calls take no more together than one answer may have: %s', async (_title, batches) => {
  const { client, node } = await clientOf(() => ({ result: `0x${megabyte}${megabyte}` }))
  const calls = Array.from({ length: 60 }, () => ({ method: 'eth_call', params: [] }))
  await expect(client.callAll(calls, batches)).rejects.toMatchObject({ failure: 'too_large' })
  expect(client.cost.receivedBytes).toBeLessThan(17 << 20)
  if (!batches) expect(node.calls.get('eth_call')).toBeLessThan(20)
})

test.each([
  ['one by one', false],
  ['in batches', true],
])(
  'receipts of a long block, asked for %s, arrive whole and are not parsed here (W11)',
  async (_title, batches) => {
    const told = Array.from({ length: 220 }, (_, nth) => ({
      ...{ transactionHash: hash(nth), blockHash: hash(1), note: 'é "}],{' },
      logs: [{ data: `0x${megabyte.slice(0, nth === 7 ? 1 << 20 : 40_000)}`, blockHash: hash(1) }],
    }))
    const asked = block('0x0', told.length, '0x7fffffffffff')
    const { client } = await clientOf(({ method, params: [of, isWhole] }) => {
      if (method !== 'eth_getBlockByNumber') return { result: told[Number(of)] ?? null }
      return {
        result: isWhole ? asked : { ...asked, transactions: asked.transactions.map(({ hash }) => hash) },
      }
    })
    const parse = vi.spyOn(JSON, 'parse')
    const bytes = await requestRange(client, { from: 0, to: 0 }, { batches, blockReceipts: false })
    const longest = Math.max(...parse.mock.calls.map(([text]) => String(text).length))
    parse.mockRestore()
    expect(bytes.length).toBeGreaterThan(8 << 20)
    expect(longest).toBeLessThan(100_000)
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual([
      { jsonrpc: '2.0', id: 0, result: asked },
      { jsonrpc: '2.0', id: 1, result: told },
    ])
  },
)

test('a receipt of another block, or none, is null where some may lack; else the range is refused', async () => {
  const answers = [{ blockHash: hash(1) }, { blockHash: hash(2) }, null]
  const { client } = await clientOf(({ method, params: [of] }) => ({
    result: method === 'eth_getBlockByNumber' ? block('0x0', 3, '0x1c9c380') : (answers[Number(of)] ?? null),
  }))
  const form = { batches: true, blockReceipts: false }
  const bytes = await requestRange(client, { from: 0, to: 0 }, { ...form, mayLackReceipts: true })
  expect(JSON.parse(Buffer.from(bytes).toString())[1].result).toEqual([answers[0], null, null])
  await expect(requestRange(client, { from: 0, to: 0 }, form)).rejects.toMatchObject({
    failure: 'block_missing',
  })
})

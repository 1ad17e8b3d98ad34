// Goal: receipts are the node's, under every filter and both paths, with the fee as the chain took
// it.
// Method: the recorded chain in a real store behind a real server; expectations from the recording
// by rules of their own.
import { hexToBigInt } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { share } from '../../support/breadth.ts'
import { type ChainApi, namedToken, openChainApi, walk } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { commonest, type Oracle, type OracleTransaction, readOracle } from '../support/oracle.ts'

const recording = 'tempo-dev-2k'
/** The blocks above are the node's alone. */
const indexedBlocks = 120

const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/**
 * The fee manager's receipt at the end: the rule of Tempo, gas times price in millionths of a unit, rounded
 * up.
 */
function feeOf({ receipt }: OracleTransaction): string {
  const cost = hexToBigInt(receipt['gasUsed']) * hexToBigInt(receipt['effectiveGasPrice'])
  return `${(cost + 10n ** 12n - 1n) / 10n ** 12n}`
}

const typeNames = new Map([
  ['0x0', 'legacy'],
  ['0x1', 'eip2930'],
  ['0x2', 'eip1559'],
  ['0x4', 'eip7702'],
  ['0x76', 'tempo'],
])

function expectedReceipt(tx: OracleTransaction) {
  const { receipt } = tx
  return {
    id: tx.hash,
    transactionHash: tx.hash,
    transactionIndex: tx.index,
    blockNumber: tx.blockNumber,
    blockHash: receipt['blockHash'],
    timestamp: iso(tx.timestampSeconds),
    sender: tx.sender,
    recipient: tx.recipient,
    contractAddress: receipt['contractAddress'] ?? null,
    status: tx.status,
    type: typeNames.get(receipt['type']),
    gasUsed: Number(receipt['gasUsed']),
    cumulativeGasUsed: Number(receipt['cumulativeGasUsed']),
    effectiveGasPrice: `${hexToBigInt(receipt['effectiveGasPrice'])}`,
    feeAmount: feeOf(tx),
    ...(tx.feePayer !== null && { feePayer: tx.feePayer }),
    ...(tx.feeToken !== null && { feeToken: tx.feeToken }),
    logs: receipt['logs'],
    meta: { rpc: receipt },
  }
}

describe('receipts', () => {
  let api: ChainApi
  let oracle: Oracle
  let check: ResponseCheck
  beforeAll(async () => {
    oracle = readOracle(recording, indexedBlocks)
    api = await openChainApi()
    await api.append(recordedBatches(recording, 10).slice(0, indexedBlocks / 10))
    await api.finalize(indexedBlocks - 20)
    check = await responseCheck(api)
  })
  afterAll(() => api.close())

  test.each(['/v1/transactions/receipts', '/v1/receipts'])(
    '%s holds every receipt, each as the node gave it',
    async (path) => {
      const rows = await walk(api, `${path}?limit=200&order=asc`, async (page) => {
        expect(check(path, page)).toEqual([])
      })
      expect(rows).toEqual(oracle.transactions.map(expectedReceipt))
      expect(rows.map((row) => JSON.stringify(row.meta.rpc))).toEqual(
        oracle.transactions.map((tx) => JSON.stringify(tx.receipt)),
      )
    },
  )

  type Case = [string, (tx: OracleTransaction, of: Facts) => boolean]
  interface Facts {
    readonly sender: string
    readonly recipient: string
    readonly feePayer: string
    readonly feeToken: string
    readonly middle: string
  }
  const middle = () => oracle.blocks[60]?.['timestamp'] ?? 0
  const cases: Case[] = [
    ['sender={sender}', (tx, of) => tx.sender === of.sender],
    ['recipient={recipient}', (tx, of) => tx.recipient === of.recipient],
    ['address={recipient}', (tx, of) => tx.sender === of.recipient || tx.recipient === of.recipient],
    ['feePayer={feePayer}', (tx, of) => tx.feePayer === of.feePayer],
    ['feeToken={feeToken}', (tx, of) => tx.feeToken === of.feeToken],
    ['status=success', (tx) => tx.status === 'succeeded'],
    ['status=reverted', (tx) => tx.status === 'reverted'],
    ['blockNumber.from=40&blockNumber.to=50', (tx) => tx.blockNumber >= 40 && tx.blockNumber <= 50],
    ['timestamp.from={middle}', (tx) => tx.timestampSeconds >= Number(middle())],
    ['timestamp.to={middle}', (tx) => tx.timestampSeconds <= Number(middle())],
    [
      'feePayer={sender}&feeToken={feeToken}&status=success',
      (tx, of) => tx.feePayer === of.sender && tx.feeToken === of.feeToken && tx.status === 'succeeded',
    ],
  ]

  test.each(share(cases, 4))('filtered by "%s"', async (query, matches) => {
    const { transactions } = oracle
    const facts = {
      sender: commonest(transactions.map((tx) => tx.sender)),
      recipient: commonest(transactions.map((tx) => tx.recipient)),
      feePayer: commonest(transactions.filter((tx) => tx.feePayer !== tx.sender).map((tx) => tx.feePayer)),
      feeToken: commonest(transactions.map((tx) => tx.feeToken)),
      middle: iso(Number(middle())),
    }
    const text = query.replaceAll(/\{(\w+)\}/g, (_, name: keyof Facts) => facts[name])
    const expected = transactions.filter((tx) => matches(tx, facts)).map((tx) => tx.hash)
    expect(expected.length).toBeGreaterThan(0)
    expect(expected.length).toBeLessThan(transactions.length)
    const path = `/v1/receipts?limit=100&${text}`
    expect((await walk(api, path)).map((row) => row.id)).toEqual(expected.toReversed())
    expect((await walk(api, `${path}&order=asc`)).map((row) => row.id)).toEqual(expected)
    const { body } = await api.get(`${path}&include=totalCount`)
    expect(body.meta).toEqual({ totalCount: expected.length, totalCountCapped: false })
  })

  test('one receipt is found under both paths, is cached once final, and has its fee token when asked', async () => {
    const tx = oracle.transactions.find(
      ({ feeToken, status }) => feeToken === namedToken && status === 'reverted',
    )
    if (!tx) throw new Error('the recording has no such transaction')
    const templates = {
      '/v1/transactions/{transactionHash}/receipt': '{transactionHash}',
      '/v1/receipts/{transaction}': '{transaction}',
    }
    for (const [template, segment] of Object.entries(templates)) {
      const path = template.replace(segment, tx.hash)
      const plain = await api.get(path)
      expect(check(template, plain)).toEqual([])
      expect(plain.body).toEqual(expectedReceipt(tx))
      expect(plain.headers.get('cache-control')).toContain('max-age=86400')
      const named = await api.get(`${path}?include=feeToken`)
      expect(check(template, named)).toEqual([])
      expect(named.body.meta.feeToken).toEqual({
        id: namedToken,
        address: namedToken,
        name: 'pathUSD',
        symbol: 'pathUSD',
        currency: 'USD',
        decimals: 6,
        logoUri: 'https://example.com/logo.svg',
        verified: true,
      })
    }
    const newest = oracle.transactions.at(-1)?.hash
    expect((await api.get(`/v1/receipts/${newest}`)).headers.get('cache-control')).toBe('no-store')
  })

  test('a receipt of a block not indexed comes from the node, in the same form', async () => {
    const later = readOracle(recording).transactions.filter((tx) => tx.blockNumber >= indexedBlocks)
    expect(later.length).toBeGreaterThan(10)
    for (const tx of later) {
      expect((await api.get(`/v1/receipts/${tx.hash}`)).body.error.code).toBe('receipt_not_found')
      api.nodeReceipts.set(tx.hash, tx.receipt)
      const answer = await api.get(`/v1/receipts/${tx.hash}`)
      expect(check('/v1/receipts/{transaction}', answer)).toEqual([])
      expect(answer.body).toEqual(expectedReceipt(tx))
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  test.each([
    ['/v1/receipts?limit=4', 400, 'query_invalid', ['query', 'limit']],
    ['/v1/receipts?status=failed', 400, 'query_invalid', ['query', 'status']],
    ['/v1/receipts?include=receipt', 400, 'query_invalid', ['query', 'include']],
    ['/v1/receipts?feePayer=0x1', 400, 'query_invalid', ['query', 'feePayer']],
    ['/v1/receipts?unknown=1', 400, 'query_invalid', ['query', 'unknown']],
    ['/v1/receipts?order=asc&order=desc', 400, 'query_invalid', ['query', 'order']],
    ['/v1/transactions/receipts?cursor=x&page=1', 422, 'parameter_conflict', ['query', 'page']],
    [
      '/v1/transactions/receipts?blockNumber.from=2&blockNumber.to=1',
      422,
      'range_invalid',
      ['query', 'blockNumber.from'],
    ],
    [
      `/v1/receipts?address=${namedToken}&sender=${namedToken}`,
      422,
      'parameter_conflict',
      ['query', 'address'],
    ],
    ['/v1/receipts/0x12', 400, 'transaction_invalid', ['param', 'transaction']],
    ['/v1/transactions/0x12/receipt', 400, 'transaction_invalid', ['param', 'transactionHash']],
  ])('%s is refused with %i %s', async (path, status, code, place) => {
    const answer = await api.get(path)
    expect(answer.status).toBe(status)
    expect(answer.body.error.code).toBe(code)
    expect(answer.body.error.details[0].path).toEqual(place)
  })
})

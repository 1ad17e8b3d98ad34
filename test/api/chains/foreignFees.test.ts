// Goal: a fee is what was paid and in which token, or unknown for a reason, the same in receipts,
// transactions and on both engines of SQL, for every family of chains.
// Method: one block with receipts of real chains (`test/data/fees`) and further ones of their kinds,
// in a real store behind a real server.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decode } from '../../store/support/chainStore.ts'
import { readRealBlock } from '../../support/realBlocks.ts'
import { ethereumProfile, rangeOf } from '../../transform/ranges.ts'
import { type ChainApi, openChainApi, walk } from '../support/chainApi.ts'
import type { RpcObject } from '../support/oracle.ts'

const HEIGHT = 18_500_000
const gas = { gasUsed: '0x5208', effectiveGasPrice: '0x3b9aca00', l1Fee: '0x64' }
const cost = 21_000n * 10n ** 9n
const operator = { operatorFeeScalar: '0x7a120', operatorFeeConstant: '0x3e8' }

interface Case {
  readonly name: string
  readonly tx: RpcObject
  readonly receipt: RpcObject
  readonly amount: bigint | null
  readonly token?: string | null
  readonly unknown?: string
}

const folder = join(import.meta.dirname, '../../data/fees')
const recorded: readonly Case[] = readdirSync(folder).map((name) => {
  const { transaction, receipt, fee } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  return { name, tx: transaction, receipt, amount: BigInt(fee.amount), token: fee.token }
})
const written: readonly Case[] = [
  { name: 'isthmus', tx: { type: '0x2' }, receipt: { ...gas, ...operator }, amount: cost + 100n + 11_500n },
  {
    name: 'jovian',
    tx: { type: '0x2' },
    receipt: { ...gas, ...operator, daFootprintGasScalar: '0x190' },
    amount: cost + 100n + 1_050_000_001_000n,
  },
  { name: 'deposit', tx: { type: '0x7e' }, receipt: { ...gas, ...operator }, amount: 0n },
  {
    name: 'half',
    tx: { type: '0x2' },
    receipt: { ...gas, operatorFeeScalar: '0x1' },
    amount: null,
    unknown: 'terms',
  },
  {
    name: 'no number',
    tx: { type: '0x2' },
    receipt: { ...gas, tokenRatio: 4406.5 },
    amount: null,
    unknown: 'terms',
  },
  {
    name: 'ticket',
    tx: { type: '0x69' },
    receipt: { ...gas, gasUsedForL1: '0x0' },
    amount: null,
    unknown: 'type',
  },
  { name: 'unknown type', tx: { type: '0x5a' }, receipt: gas, amount: null, unknown: 'type' },
  {
    name: 'no price',
    tx: { type: '0x2' },
    receipt: { ...gas, effectiveGasPrice: null },
    amount: null,
    unknown: 'price',
  },
]
const cases = [...recorded, ...written]

const hashOf = (index: number) => `0x${(index + 1).toString(16).padStart(64, 'f')}`
const sender = `0x${'a1'.repeat(20)}`

function blockOf(): { readonly block: RpcObject; readonly receipts: readonly RpcObject[] } {
  const real = readRealBlock('ethereum', `${HEIGHT}`).block as RpcObject
  let logIndex = 0
  const owner = (index: number) => ({
    ...{ blockHash: real['hash'], blockNumber: real['number'] },
    transactionIndex: `0x${index.toString(16)}`,
  })
  const transactions = cases.map(({ tx }, index) => ({
    ...{ nonce: '0x0', gas: '0x5208', value: '0x0', input: '0x', from: sender, ...tx },
    ...{ hash: hashOf(index), ...owner(index) },
  }))
  const receipts = cases.map(({ tx, receipt }, index) => ({
    ...{ cumulativeGasUsed: '0x5208', status: '0x1', from: sender, ...receipt, type: tx['type'] },
    ...{ transactionHash: hashOf(index), ...owner(index) },
    logs: (receipt['logs'] ?? []).map((log: RpcObject) => ({
      ...log,
      ...{ transactionHash: hashOf(index), ...owner(index), logIndex: `0x${(logIndex++).toString(16)}` },
    })),
  }))
  return { block: { ...real, transactions }, receipts }
}

let api: ChainApi
beforeAll(async () => {
  api = await openChainApi({ kind: 'evm', headFrom: HEIGHT, startBlock: HEIGHT })
  await api.append([decode({ ...rangeOf([blockOf()]), endpoint: 'fixture' }, 'links', ethereumProfile)])
  await api.finalize(HEIGHT)
  await api.fillClickHouse()
})
afterAll(() => api.close())

const told = ({ amount, token, unknown }: Case) => ({
  feeAmount: amount === null ? null : `${amount}`,
  feeUnknown: unknown,
  feeToken: token ?? undefined,
})
const pick = ({ feeAmount, feeUnknown, feeToken }: RpcObject) => ({ feeAmount, feeUnknown, feeToken })

describe('fees of other chains', () => {
  test('in receipts, alone, in lists and with their transactions', async () => {
    const listed = await walk(api, '/v1/receipts?order=asc')
    const included = await walk(api, '/v1/transactions?include=receipt&order=asc')
    for (const [index, one] of cases.entries()) {
      const single = await api.get(`/v1/receipts/${hashOf(index)}`)
      expect([one.name, pick(single.body)]).toEqual([one.name, told(one)])
      expect(pick(listed[index])).toEqual(told(one))
      expect(pick(included[index].meta.receipt)).toEqual(told(one))
      expect(included[index].feeToken).toBe(one.token ?? undefined)
    }
  })

  test.each(['postgres', 'clickhouse'])('on %s, where sums are per token', async (engine) => {
    const ask = async (sql: string) => {
      const query = new URLSearchParams({ engine, sql })
      const { status, body } = await api.get(`/v1/indexer/query?${query}`)
      expect([status, body.error?.message]).toEqual([200, undefined])
      return body.rows as readonly (readonly unknown[])[]
    }
    const rows = await ask('SELECT fee_amount, fee_unknown, fee_token FROM receipts ORDER BY tx_idx')
    expect(rows.map((row) => row.map((value) => (value === null ? null : `${value}`)))).toEqual(
      cases.map(({ amount, unknown, token }) => [
        amount === null ? null : `${amount}`,
        unknown ?? null,
        token ?? null,
      ]),
    )
    const sums = await ask(
      'SELECT fee_token, sum(fee_amount) AS paid FROM receipts GROUP BY fee_token ORDER BY fee_token NULLS FIRST',
    )
    const sumOf = (only: (one: Case) => boolean) =>
      `${cases.filter(only).reduce((sum, { amount }) => sum + (amount ?? 0n), 0n)}`
    expect(sums.map(([token, paid]) => [token, `${paid}`])).toEqual([
      [null, sumOf(({ token }) => !token)],
      [recorded.find(({ token }) => token)?.token, sumOf(({ token }) => Boolean(token))],
    ])
  })

  test('from the node, while a block is not indexed', async () => {
    const { block, receipts } = blockOf()
    const elsewhere = (index: number) => `0x${(index + 1).toString(16).padStart(64, 'e')}`
    for (const [index, receipt] of receipts.entries()) {
      const transactionHash = elsewhere(index)
      api.nodeReceipts.set(transactionHash, { ...receipt, transactionHash })
      api.nodeAnswers.set(transactionHash, { ...block['transactions'][index], hash: transactionHash })
    }
    for (const [index, one] of cases.entries()) {
      const { body } = await api.get(`/v1/receipts/${elsewhere(index)}`)
      expect([one.name, pick(body)]).toEqual([one.name, told(one)])
    }
  })

  test('by the token they were paid in', async () => {
    const index = cases.findIndex(({ token }) => token)
    const paid = await walk(api, `/v1/transactions?feeToken=${cases[index]?.token}`)
    expect(paid.map(({ hash }) => hash)).toEqual([hashOf(index)])
  })
})

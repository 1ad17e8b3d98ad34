// Goal: neither feeds nor a token's transactions read more of the chain than their pages need, hot
// accounts and tokens, deep pages and pairs of filters included.
// Method: the recorded chain copied upwards until scanning would cost something, and the server's
// own account of each plan.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { address } from '#primitives.ts'
import { quoteTokensStatement } from '#store/follow/exchange/quoteTokens.ts'
import { swappingStatement } from '#store/read/foldedTransfers.ts'
import { compileActivityPlaces } from '#store/read/lists/activityPlaces.ts'
import { isDeposit } from '#store/read/lists/statement.ts'
import {
  compileTokenTransactionCount,
  compileTokenTransactions,
  type TokenTransactionFilters,
} from '#store/read/lists/tokenTransactions.ts'
import { toBytes } from '#store/sql.ts'
import { feeManagerAddress, stablecoinDexAddress } from '#transform/addresses.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { copyUpwards, planOf, rowsExamined } from '../support/plans.ts'

const recordedBlocks = 123
const copies = 20
const limit = 11
const top = recordedBlocks * (copies + 1) - 1
const pathUsd = '0x20c0000000000000000000000000000000000000'

describe('plans of feeds and of a token’s transactions', () => {
  let store: ChainStore
  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of recordedBatches('tempo-dev-2k', 40)) await store.head.append(batch)
    await copyUpwards(store, ['txs', 'logs', 'token_transfers'], recordedBlocks, copies)
  })
  afterAll(() => store.close())

  /** The most frequent value of a column, or with `nth` the next ones. */
  async function commonest(table: string, column: string, nth = 0): Promise<string> {
    const found = await store.postgres.pool.query<{ value: Buffer }>(
      `SELECT ${column} AS value FROM ${store.schema}.${table} WHERE ${column} IS NOT NULL
       GROUP BY 1 ORDER BY count(*) DESC, 1 OFFSET ${nth} LIMIT 1`,
    )
    return `0x${found.rows[0]?.value.toString('hex')}`
  }

  async function countDeposits(token: string): Promise<number> {
    const found = await store.postgres.pool.query<{ n: number }>(
      `SELECT count(*) AS n FROM ${store.schema}.token_transfers WHERE token = $1 AND ${isDeposit}`,
      [toBytes(token)],
    )
    return found.rows[0]?.n ?? 0
  }

  const query = { order: 'desc', limit, offset: 0, fromBlock: 0, toBlock: top } as const
  const places = [
    query,
    { ...query, position: [Math.floor(top / 2), 3] },
    { ...query, position: [40, 3] },
  ] as const

  /**
   * Runs the statement. Each branch of a union reads for itself, and a block's rows to their end.
   */
  async function assertServed(
    { text, values }: { text: string; values: readonly unknown[] },
    rowsMax: number,
  ): Promise<void> {
    const nodes = await planOf(store, { text, values }, { run: true })
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
    expect(rowsExamined(nodes)).toBeLessThanOrEqual(rowsMax)
  }

  test.each([
    ['the commonest sender', () => commonest('txs', '"from"')],
    ['the commonest sponsor', () => commonest('txs', 'fee_payer')],
    ['a rare sender', () => commonest('txs', '"from"', 30)],
    ['the exchange', async () => stablecoinDexAddress],
    ['the fee manager', async () => feeManagerAddress],
    ['the zero address', async () => `0x${'0'.repeat(40)}`],
    ['nobody', async () => `0x${'12'.repeat(20)}`],
  ])('the feed of %s', async (_, account) => {
    const of = await account()
    for (const place of places)
      await assertServed(compileActivityPlaces(store.schema, of, place, 'position' in place), 60 * limit)
  })

  type Case = [string, () => Promise<TokenTransactionFilters>]
  const cases: Case[] = [
    ['the token of most fees', async () => ({ token: pathUsd })],
    ['another token', async () => ({ token: await commonest('logs', 'address', 2) })],
    ['no token', async () => ({ token: `0x${'12'.repeat(20)}` })],
    [
      'a token and a common payer',
      async () => ({ token: pathUsd, feePayer: await commonest('txs', 'fee_payer') }),
    ],
    [
      'a token and a rare payer',
      async () => ({ token: pathUsd, feePayer: await commonest('txs', 'fee_payer', 30) }),
    ],
    ['a token and its own fees', async () => ({ token: pathUsd, feeToken: pathUsd })],
    [
      'a token and a rare fee token',
      async () => ({ token: pathUsd, feeToken: await commonest('txs', 'paid_fee_token', 3) }),
    ],
    [
      'everything',
      async () => ({ token: pathUsd, feeToken: pathUsd, feePayer: await commonest('txs', 'fee_payer') }),
    ],
  ]
  test.each(cases)('transactions of %s', async (_, filters) => {
    const of = await filters()
    // The payer of a deposit is looked up deposit by deposit: the few there are bound it.
    const depositsRead = of.feePayer || of.feeToken ? 2 * (await countDeposits(of.token)) : 0
    for (const place of places)
      for (const order of ['desc', 'asc'] as const)
        await assertServed(
          compileTokenTransactions(store.schema, of, { ...place, order }),
          20 * limit + depositsRead,
        )
    const counted = compileTokenTransactionCount(store.schema, of, query, 100)
    const nodes = await planOf(store, counted)
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
  })

  test('which transactions of a page swapped is read from what the exchange got in their blocks', async () => {
    const found = await store.postgres.pool.query<{ block_num: number; tx_idx: number; paid: number }>(
      `SELECT block_num, tx_idx, (SELECT count(*) FROM ${store.schema}.token_transfers AS paid
         WHERE paid.block_num = page.block_num AND paid."to" = $1) AS paid
       FROM (SELECT * FROM ${store.schema}.token_transfers ORDER BY block_num DESC, log_idx DESC LIMIT 200) AS page`,
      [toBytes(stablecoinDexAddress)],
    )
    const values = [found.rows.map((row) => row.block_num), found.rows.map((row) => row.tx_idx)]
    // The server rounds its rows per look-up, of which there is one for each place.
    const rowsMax = found.rows.reduce((sum, row) => sum + row.paid, found.rows.length)
    await assertServed({ text: swappingStatement(store.schema), values }, rowsMax)
  })

  test('what a token was quoted in is found by it', async () => {
    const asked = [{ token: address(pathUsd), blockNumber: top, logIndex: 0 }]
    const nodes = await planOf(store, quoteTokensStatement(store.schema, asked))
    const scans = nodes.filter((node) => `${node['Relation Name'] ?? ''}`.startsWith('logs'))
    expect(scans.length).toBeGreaterThan(2)
    for (const scan of scans) expect(`${scan['Index Cond']}`, JSON.stringify(scan)).toMatch(/topic\d = /)
  })
})

// Goal: no read of balances scans a table, whatever the filter and however deep the page.
// Method: balances of 200 tokens and 1,000 holders, with the changes of the newest blocks,
// analyzed; the server's own plans.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkpointsFollower } from '#store/follow/balances/checkpoints.ts'
import {
  type BalancesOf,
  type BalancesStatement,
  compileBalanceCount,
  compileBalances,
} from '#store/follow/balances/compileBalances.ts'
import type { Moment } from '#store/follow/balances/moment.ts'
import { assertGenesisKnown, readTotals, readTotalsAt } from '#store/follow/balances/totals.ts'
import { insertFollower, moveFollower } from '#store/follow/follower.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import { createHeadPartitions } from '#store/ledger/partitions.ts'
import { relationOf } from '#store/sql.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { planOf, rowsExamined } from '../support/plans.ts'

const tokens = 200
const holders = 1_000
const blocks = 1_000
const limit = 11
const tip20 = (n: number) => `0x20c000000000000000000000${n.toString(16).padStart(16, '0')}`
const holder = `0x${'0'.repeat(39)}7`
const token = tip20(7)

const now: Moment = { block: blocks, base: 'newest', changes: null }
const recent: Moment = {
  block: blocks - 5,
  base: 'newest',
  changes: { sign: '-', blocks: { from: blocks - 4, to: blocks }, stored: true },
}
const old: Moment = {
  block: 700,
  base: 'newest',
  changes: { sign: '-', blocks: { from: 701, to: blocks }, stored: false },
}
const early: Moment = {
  block: 5,
  base: { checkpoint: -1 },
  changes: { sign: '+', blocks: { from: 0, to: 5 }, stored: false },
}
const past: Moment = {
  block: 505,
  base: { checkpoint: 499 },
  changes: { sign: '+', blocks: { from: 500, to: 505 }, stored: false },
}

const lists: [string, BalancesOf][] = [
  ['balances of an account', { holder, tokens: { tip20: true } }],
  ['balances in other tokens', { holder, tokens: { tip20: false } }],
  ['balances in some tokens', { holder, tokens: { tip20: true, only: [1, 2, 3].map(tip20) } }],
  ['balances in all but some tokens', { holder, tokens: { tip20: true, without: [1, 2, 3].map(tip20) } }],
  ['holders of a token', { token }],
]

describe('plans of balances', () => {
  let store: ChainStore

  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    const s = store.schema
    const bytes = (prefix: string, n: string, digits: number) =>
      `decode('${prefix}' || lpad(to_hex(${n}), ${digits}, '0'), 'hex')`
    // Every second token is no TIP-20; one in a hundred balances is zero.
    const tokenSql = `CASE WHEN t % 2 = 1 THEN ${bytes('20c000000000000000000000', 't', 16)} ELSE ${bytes('', 't', 40)} END`
    const { pool } = store.postgres
    await store.postgres.transaction((client) => createHeadPartitions(client, s, { from: 0, to: blocks }))
    await pool.query(
      `INSERT INTO ${s}.balances (holder, token, balance)
       SELECT ${bytes('', 'h', 40)}, ${tokenSql}, (h * 7919 + t * 104729) % 1000003 * (h % 100)::numeric
       FROM generate_series(1, ${holders}) AS h, generate_series(1, ${tokens}) AS t`,
    )
    await pool.query(`INSERT INTO ${s}.genesis_balances (holder, token, balance)
      SELECT holder, token, balance FROM ${s}.balances WHERE get_byte(holder, 19) % 16 = 7`)
    await pool.query(
      `INSERT INTO ${s}.balance_changes (block_num, token, holder, delta)
       SELECT b, ${tokenSql}, ${bytes('', 'h', 40)}, 1
       FROM generate_series(1, ${blocks}) AS b, generate_series(1, ${tokens}, 7) AS t, generate_series(1, 5) AS h`,
    )
    await pool.query(`INSERT INTO ${s}.token_totals (token, holder_count, total_supply, transfer_count, first_block, first_log_idx)
      SELECT DISTINCT token, ${holders}, 1, 1, 1, 1 FROM ${s}.balances`)
    await pool.query(
      `INSERT INTO ${s}.token_transfers (block_num, log_idx, block_timestamp, tx_idx, tx_hash, token, "from", "to", is_fee, is_virtual_forward, amount)
       SELECT b, t * 100 + h, to_timestamp(b), 0, '\\x00', ${tokenSql}, ${bytes('', '0', 40)}, ${bytes('', 'h', 40)}, false, false, 1
       FROM generate_series(1, ${blocks}) AS b, generate_series(1, ${tokens}, 7) AS t, generate_series(1, 5) AS h`,
    )
    await pool.query(`INSERT INTO ${s}.token_changes (block_num, token, transfer_count)
      SELECT block_num, token, count(*) FROM ${s}.token_transfers GROUP BY block_num, token`)
    await pool.query(`INSERT INTO ${s}.balance_samples (token, block_num, sampled_at)
      SELECT token, 1, to_timestamp(1) FROM ${s}.token_totals
      UNION ALL SELECT ${bytes('', 't', 40)}, 1, to_timestamp(1) FROM generate_series(1000, 20000) AS t`)
    await writeCheckpoints(store)
    await pool.query('ANALYZE')
  })
  afterAll(() => store.close())

  const expectIndexed = async ({ text, values }: BalancesStatement, prepared = false) => {
    const nodes = await planOf(store, { text, values }, { run: true, prepared })
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
    expect(scanned.map((node) => node['Relation Name'])).toEqual([])
    return rowsExamined(nodes)
  }

  test.each(lists)('%s: now, no page examines more than it gives', async (_, of) => {
    for (const position of [undefined, { balance: '1000', address: token }]) {
      const asked = compileBalances(store.schema, of, now, { limit, offset: 0, position })
      for (const prepared of [false, true])
        expect(await expectIndexed(asked, prepared)).toBeLessThanOrEqual(limit * 10)
    }
    await expectIndexed(compileBalanceCount(store.schema, of, now, 10_000))
  })

  test.each(lists)('%s: as of a block, what changed is found by its index', async (_, of) => {
    for (const moment of [recent, old, early, past]) {
      await expectIndexed(compileBalances(store.schema, of, moment, { limit, offset: 0 }))
      await expectIndexed(
        compileBalances(store.schema, of, moment, {
          limit,
          offset: 0,
          position: { balance: '1000', address: token },
        }),
      )
      await expectIndexed(compileBalanceCount(store.schema, of, moment, 10_000))
    }
  })

  test('totals, now and as of a block, and what genesis leaves unknown', async () => {
    const { pool } = store.postgres
    const totals = relationOf(store.schema, 'token_totals')
    const statements: BalancesStatement[] = []
    const recorder = {
      query: async (text: string, values: readonly unknown[] = []) => {
        if (text.includes(totals)) statements.push({ text, values })
        return pool.query(text, [...values])
      },
    } as unknown as Queryable
    await readTotals(recorder, store.schema, [token])
    // The last one is newer than the newest checkpoint.
    for (const block of [5, 505, 700, blocks - 5])
      await readTotalsAt(recorder, store.schema, token, { block, tip: blocks })
    await assertGenesisKnown(recorder, store.schema, { token })
    await assertGenesisKnown(recorder, store.schema, { holder })
    expect(statements).toHaveLength(7)
    for (const statement of statements) await expectIndexed(statement)
  })
})

/** As the follower writes them, of all blocks but the last hundred. */
async function writeCheckpoints({ postgres, schema }: ChainStore): Promise<void> {
  const follower = checkpointsFollower(100)
  await postgres.transaction(async (client) => {
    const transaction = { client, schema, finalized: blocks }
    const to = blocks - 101
    for (let from = 0; from <= to; ) from = 1 + (await follower.apply(transaction, { from, to }))
    const coverage = [{ from: 0, to }]
    await insertFollower(client, schema, follower, 0)
    await moveFollower(client, schema, follower, { seq: 0, coverage })
  })
}

// Goal: the list of tokens examines a handful of tokens for each it gives, on either kind of chain
// and however deep.
// Method: 20,000 tokens of each kind, analyzed; the server's own account of each plan.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileHasSymbol, compileTokenList } from '#store/read/tokens.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { planOf, rowsExamined } from '../support/plans.ts'

const tokens = 20_000
const limit = 10
/** A token is looked up in two tables at most. */
const examinedMax = 10 * limit

describe('plans of the list of tokens', () => {
  let store: ChainStore
  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    const { pool } = store.postgres
    const s = store.schema
    const token = `decode(lpad(to_hex(t * 7919), 40, '0'), 'hex')`
    const all = `generate_series(1, ${tokens}) AS t`
    await pool.query(
      `INSERT INTO ${s}.tokens_current (token, block_num, log_idx, created_block, created_log_idx, name, symbol, currency, paused)
       SELECT ${token}, t, 0, t, 0, 'Token', 'T' || t, 'USD', false FROM ${all}`,
    )
    await pool.query(
      `INSERT INTO ${s}.token_totals (token, holder_count, total_supply, transfer_count, first_block, first_log_idx, metadata_asked)
       SELECT ${token}, 1, 1, 1, t, 0, true FROM ${all}`,
    )
    // One in ten contracts does not say its name.
    await pool.query(
      `INSERT INTO ${s}.erc20_metadata (token, name, symbol, decimals)
       SELECT ${token}, CASE WHEN t % 10 > 0 THEN 'Token' END, 'T' || t, 18 FROM ${all}`,
    )
    for (const table of ['tokens_current', 'token_totals', 'erc20_metadata'])
      await pool.query(`ANALYZE ${s}.${table}`)
  })
  afterAll(() => store.close())

  test.each(
    (['tempo', 'evm'] as const).flatMap((kind) =>
      (['asc', 'desc'] as const).map((order) => ({ kind, order })),
    ),
  )('$kind, $order: from the head, and from deep below', async ({ kind, order }) => {
    for (const position of [undefined, [tokens / 2, 0, `0x${'00'.repeat(20)}`]]) {
      const page = { order, limit, offset: 0, ...(position && { position }) }
      const nodes = await planOf(store, compileTokenList(store.schema, kind, { without: [] }, page), {
        run: true,
        prepared: true,
      })
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
      expect(rowsExamined(nodes)).toBeLessThanOrEqual(examinedMax)
    }
  })

  test('whether any token has a symbol is one look into each index of symbols', async () => {
    for (const symbol of ['t77', 'nobody']) {
      const nodes = await planOf(store, compileHasSymbol(store.schema, symbol), { run: true })
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
      expect(rowsExamined(nodes)).toBeLessThanOrEqual(limit)
    }
  })
})

// Goal: conditions on the columns of a table, by signature or as it is, are served by indexes on
// both engines, alone and in joins: whatever is done so that bytes mean the same on both.
// Method: the recorded chain copied upwards until scanning would cost something, and the engines'
// own plans of what the gates make of a query.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateClickHouse } from '#query/clickhouse/gate.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { gatePostgres, loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import { bindViews, type Catalog } from '#query/relations/catalog.ts'
import { relationsOf } from '#query/relations/views.ts'
import { replaceClickHouseViews, replacePostgresViews } from '#query/setup/replaceViews.ts'
import { viewSchemaOf } from '#store/sql.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { copyUpwards, indexDefinition, planOf } from '../support/plans.ts'

const recordedBlocks = 123
const copies = 40
const signatures = [
  'Transfer(address indexed from, address indexed to, uint256 amount)',
  'OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
]

/**
 * A query, and the column its index on Postgres begins with and the index that prunes on
 * ClickHouse.
 */
const cases = [
  [`SELECT * FROM Transfer WHERE "from" = '{rare}'`, 'topic1', 'topic1_bloom'],
  [
    `SELECT sum(amount) FROM Transfer WHERE "to" IN ('{rare}', '0x0000000000000000000000000000000000000001')`,
    'topic2',
    'topic2_bloom',
  ],
  [`SELECT * FROM OrderPlaced WHERE orderId = 7`, 'topic1', 'topic1_bloom'],
  [
    `SELECT t.amount FROM Transfer t LEFT JOIN blocks b ON b.num = t.block_num WHERE t."from" = '{rare}' AND (t.amount > 5 OR b.gas_used > 0)`,
    'topic1',
    'topic1_bloom',
  ],
  [`SELECT count(*) FROM Transfer WHERE block_num BETWEEN 1000 AND 1003`, 'block_num', 'PrimaryKey'],
  [`SELECT count(*) FROM OrderPlaced`, 'topic0', 'topic0_bloom'],
  [`SELECT amount FROM Transfer WHERE tx_hash = '{tx}'`, 'tx_hash', 'tx_hash_bloom'],
  [`SELECT * FROM logs WHERE topic1 = '{word}'`, 'topic1', 'topic1_bloom'],
  [`SELECT * FROM logs l WHERE '{word}' = l.topic1`, 'topic1', 'topic1_bloom'],
  [`SELECT * FROM logs WHERE topic1 IN ('{word}', '0x${'00'.repeat(31)}01')`, 'topic1', 'topic1_bloom'],
  [`SELECT * FROM logs WHERE tx_hash = '{tx}' AND topic1 IS NOT NULL`, 'tx_hash', 'tx_hash_bloom'],
  [`SELECT * FROM (SELECT * FROM logs) x WHERE x.tx_hash = '{tx}'`, 'tx_hash', 'tx_hash_bloom'],
  [`SELECT * FROM logs WHERE block_num >= 1000 AND block_num < 1004`, 'block_num', 'PrimaryKey'],
  [`SELECT * FROM logs WHERE block_num IN (1000, 1002)`, 'block_num', 'PrimaryKey'],
] as const

/** The beginning of bytes is a range of them; only Postgres has an index in their order. */
const ranges = [
  [`SELECT * FROM logs WHERE tx_hash LIKE '{start}%'`, 'tx_hash'],
  [`SELECT * FROM logs WHERE tx_hash >= '{tx}' AND tx_hash <= '{tx}'`, 'tx_hash'],
  [`SELECT * FROM logs WHERE tx_hash BETWEEN '{tx}' AND '{tx}'`, 'tx_hash'],
] as const

describe('plans of tables by signature', () => {
  let store: ChainStore
  let found: Readonly<Record<string, string>>
  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of recordedBatches('tempo-dev-2k', 40)) await store.head.append(batch)
    await copyUpwards(store, ['blocks', 'logs'], recordedBlocks, copies)
    await store.clickhouse.command({ query: manyLogsSql(store.schema) })
    await replacePostgresViews(store.postgres, store.chainId)
    await replaceClickHouseViews(store.clickhouse, store.chainId, 'DEFINER = default SQL SECURITY DEFINER')
    await loadPostgresGrammar()
    const { rows } = await store.postgres.pool.query<{ rare: string; tx: string }>(
      `SELECT '0x' || encode(substr(topic1, 13), 'hex') AS rare, '0x' || encode(min(tx_hash), 'hex') AS tx
       FROM ${store.schema}.logs WHERE topic0 = '\\xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
       GROUP BY topic1 ORDER BY count(*), topic1 LIMIT 1`,
    )
    const [{ rare, tx } = expect.fail()] = rows
    found = { rare, tx, word: `0x${'00'.repeat(12)}${rare.slice(2)}`, start: tx.slice(0, 12) }
  })
  afterAll(() => store.close())

  const catalogOf = async (engine: 'postgres' | 'clickhouse'): Promise<Catalog> =>
    bindDecoded(
      bindViews(relationsOf(engine), viewSchemaOf(store.chainId)),
      await readSignatures(signatures, async () => undefined),
    )
  const filled = (sql: string) => sql.replace(/\{(\w+)\}/g, (_, name: string) => found[name] ?? '')

  const onPostgres = [...cases, ...ranges].map(([sql, column]) => [sql, column] as const)
  test.each(onPostgres)('on Postgres: %s', async (sql, column) => {
    const { sql: text } = gatePostgres(filled(sql), await catalogOf('postgres'), 10_000)
    const nodes = await planOf(store, { text, values: [] })
    const ofLogs = nodes.filter((node) => node['Index Name']?.startsWith('logs_'))
    const definitions = await Promise.all(
      ofLogs.map((node) => indexDefinition(store, node['Index Name'] ?? '')),
    )
    expect(
      nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name']?.startsWith('logs')),
    ).toEqual([])
    expect(definitions.map((definition) => /\("?(\w+)"?/.exec(definition)?.[1])).toContain(column)
  })

  test.each(cases)('on ClickHouse: %s', async (sql, _column, index) => {
    const { sql: text } = gateClickHouse(filled(sql), await catalogOf('clickhouse'), 10_000)
    const result = await store.clickhouse.query({
      query: `EXPLAIN indexes = 1 ${text}`,
      format: 'JSONEachRow',
    })
    const lines = (await result.json<{ explain: string }>()).map(({ explain }) => explain.trim())
    const plan = lines.join('\n')
    expect(plan).toContain(index)
    const [, read, all] = /Granules: (\d+)\/(\d+)/.exec(plan.slice(plan.indexOf(index))) ?? []
    // Nothing is left to prune where the event's own index left nothing.
    expect(Number(read) < Number(all) || all === '0').toBe(true)
  })
})

/**
 * Half a million logs on ClickHouse, whose copies of a recording would repeat themselves in every
 * granule.
 */
const manyLogsSql = (database: string): string => `
  INSERT INTO ${database}.logs (block_num, log_idx, block_timestamp, tx_idx, tx_hash, address, topic0, topic1, topic2, topic3, data, is_virtual_forward)
  SELECT intDiv(number, 100), number % 100, toDateTime(1795262398), number % 100, SHA256(toString(intDiv(number, 3))),
    substring(SHA256('token'), 1, 20), if(number < 400000, unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'), SHA256('other')),
    SHA256(toString(number)), SHA256(toString(number + 1)), NULL, unhex(repeat('00', 32)), false
  FROM numbers(500000)`

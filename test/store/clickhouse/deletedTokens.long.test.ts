// Goal: an insert held up for minutes is still dropped by its token after its rows were deleted
// (ClickHouseSink uses the tokens of a try up for that). Without a setting of ours the engine drops
// a part that has no rows, and its token with it.
// Method: the same insert and delete in a table of ours and in one with the engine's settings,
// which tells when it has been there.
import { expect, onTestFinished, test } from 'vitest'
import { openChainStore } from '../support/chainStore.ts'

test('the token of deleted rows stays known when the engine has cleared up after the delete', async () => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const { clickhouse, database } = store
  const [ours, plain] = [`${database}.logs`, `${database}.plain`]
  await clickhouse.command({
    query: `CREATE TABLE ${plain} (block_num UInt64) ORDER BY block_num SETTINGS non_replicated_deduplication_window = 10`,
  })
  const insert = async (table: string) => {
    await clickhouse.command({
      query: `INSERT INTO ${table} (block_num) SELECT 40`,
      clickhouse_settings: { insert_deduplication_token: 'known' },
    })
    return (await clickhouse.query({ query: `SELECT * FROM ${table}`, format: 'JSONEachRow' })).json()
  }
  for (const table of [plain, ours]) {
    await clickhouse.command({ query: `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1` })
    expect(await insert(table)).toHaveLength(1)
    await clickhouse.command({
      query: `ALTER TABLE ${table} DELETE WHERE 1`,
      clickhouse_settings: { mutations_sync: '2' },
    })
  }
  await expect.poll(() => insert(plain)).toHaveLength(1)
  expect(await insert(ours)).toEqual([])
})

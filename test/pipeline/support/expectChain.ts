/**
 * Both stores hold a recorded chain: every row once, nothing of any other branch, and books that
 * agree with it.
 */
import { expect } from 'vitest'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { readCoverage, readLane } from '#store/ledger/lane.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf, toHex } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { expectInClickHouse, expectInPostgres } from '../../store/support/expectHeld.ts'
import type { RecordedChain } from '../../support/recordedChain.ts'
import { encoded } from './indexedChain.ts'
import { recordedChainOf, type Task } from './task.ts'

/**
 * Opens the task's databases, compares them block by block with what the task's chain encodes to,
 * closes them.
 */
export async function expectIndexed(task: Task): Promise<void> {
  const { access, checks } = task
  const recorded = await recordedChainOf(task)
  const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  const clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  const [schema, database] = [schemaOf(access.chainId), databaseOf(access.chainId)]
  try {
    const [all, final] = [
      { from: 0, to: recorded.head },
      { from: 0, to: recorded.finalized },
    ]
    expect(await readCoverage(postgres.pool, schema, 'postgres')).toEqual([all])
    expect(await readCoverage(postgres.pool, schema, 'clickhouse')).toEqual([final])
    const stores = { postgres, schema, clickhouse, database }
    await expectInPostgres(stores, [encoded(recorded, all, checks)])
    await expectInClickHouse(stores, [encoded(recorded, final, checks)])
    await expectBooks(postgres, schema, recorded)
  } finally {
    await clickhouse.close()
    await postgres.close()
  }
}

/**
 * The commit log, read from its beginning, gives the head lane's blocks; nothing is begun and not
 * finished.
 */
async function expectBooks(postgres: Postgres, schema: string, recorded: RecordedChain): Promise<void> {
  const lane = await readLane(postgres.pool, schema)
  expect(lane).toMatchObject({
    tip: recorded.head,
    tipHash: recorded.refAt(recorded.head).hash,
    finalized: recorded.finalized,
  })
  const { rows } = await postgres.pool.query<{
    seq: number
    kind: string
    from_block: number
    hashes: Buffer[]
  }>(`SELECT seq, kind, from_block, hashes FROM ${schema}.commits ORDER BY seq`)
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, index) => index + 1))
  const blocks = new Map<number, string>()
  for (const { kind, from_block, hashes } of rows)
    for (const [index, bytes] of hashes.entries()) {
      const number = from_block + index
      if (kind === 'append') {
        expect(blocks.has(number), `block ${number} appended twice`).toBe(false)
        blocks.set(number, toHex(bytes))
      } else {
        expect(blocks.get(number), `block ${number} taken back`).toBe(toHex(bytes))
        blocks.delete(number)
      }
    }
  for (const [number, hash] of blocks) expect(hash).toBe(recorded.refAt(number).hash)
  const open = await postgres.pool.query(
    `SELECT from_block FROM ${schema}.chunks UNION ALL SELECT from_block FROM ${schema}.ch_batches WHERE state = 'open'`,
  )
  expect(open.rows).toEqual([])
}

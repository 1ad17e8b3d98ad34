/** The encoder's counts and an engine's computations from its own rows must be the same, block by block. */
import { expect } from 'vitest'
import { type BlockDigest, clickhouseDigests, postgresDigests } from '#store/compare/digests.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { analyticsTableNames, type TableName, tableNames } from '#transform/tables.ts'
import type { ChainStore } from './chainStore.ts'

/** Rows and digest of every block of a table, as the encoder counted them. */
function expectedDigests(batches: readonly EncodedBatch[], name: TableName): BlockDigest[] {
  return batches.flatMap((batch) =>
    batch.refs.flatMap((ref, index) => {
      const rows = batch.tables[name].blockRowCounts[index] ?? 0
      return rows > 0
        ? [{ block: ref.number, rows, digest: batch.tables[name].blockDigests[index] ?? 0 }]
        : []
    }),
  )
}

/** Everything there is; a bigint column holds no more. */
const all = { from: 0, to: Number.MAX_SAFE_INTEGER }

type Stores = Pick<ChainStore, 'postgres' | 'schema' | 'clickhouse' | 'database'>

/** Postgres holds these batches' rows once each, and no others. */
export async function expectInPostgres(store: Stores, batches: readonly EncodedBatch[]): Promise<void> {
  for (const name of tableNames) {
    const found = await postgresDigests(store.postgres.pool, store.schema, name, all)
    expect(unequal(expectedDigests(batches, name), found), `${name} in Postgres`).toEqual([])
  }
}

/** ClickHouse holds these batches' rows once each, and no others. */
export async function expectInClickHouse(store: Stores, batches: readonly EncodedBatch[]): Promise<void> {
  for (const name of analyticsTableNames) {
    const found = await clickhouseDigests(store.clickhouse, store.database, name, all)
    expect(unequal(expectedDigests(batches, name), found), `${name} in ClickHouse`).toEqual([])
  }
}

/** Blocks in which the two differ, so that a failure is read at a glance. */
function unequal(expected: readonly BlockDigest[], found: readonly BlockDigest[]) {
  const [ours, theirs] = [expected, found].map((digests) => new Map(digests.map((one) => [one.block, one])))
  const blocks = new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])
  return [...blocks].flatMap((block) => {
    const [a, b] = [ours?.get(block), theirs?.get(block)]
    return a?.rows === b?.rows && a?.digest === b?.digest ? [] : [{ block, expected: a, found: b }]
  })
}

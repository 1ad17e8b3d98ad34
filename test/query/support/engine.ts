/** Opens an engine for users' queries on the example chain. */

import type { RangeSet } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import { ClickHouseUserQueryEngine } from '#query/clickhouse/ClickHouseUserQueryEngine.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { findIndexedCountIn } from '#query/decoded/findIndexedCount.ts'
import { PostgresUserQueryEngine } from '#query/postgres/PostgresUserQueryEngine.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { exportDebts } from '#rows/access/exportDebts.ts'
import { appDatabase } from '#rows/database.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { catalogOf } from './catalogs.ts'
import type { ExampleChain } from './exampleChain.ts'

export function openEngine(
  chain: ExampleChain,
  engine: Engine,
  ranges?: RangeSet,
  elsewhere?: string,
  clock: Clock = systemRuntime().clock,
): UserQueryEngine {
  const catalog = catalogOf(engine, `chain_${chain.chainId}_sql`, ranges)
  const findIndexedCount = findIndexedCountIn(chain.postgres, `chain_${chain.chainId}`)
  const shared = {
    catalogOf: async (_chainId: number, signatures: readonly string[]) =>
      bindDecoded(catalog, await readSignatures(signatures, findIndexedCount)),
    exportDebts: exportDebts(appDatabase(chain.postgres), engine),
    clock,
  }
  if (engine === 'postgres') {
    const url = elsewhere?.replace('http:', 'postgres:') ?? chain.readerUrl
    return new PostgresUserQueryEngine({ ...shared, url, log: silentLogger })
  }
  const { clickhouseUrl, readerUsername, readerPassword } = chain.database
  const access = { url: elsewhere ?? clickhouseUrl, username: readerUsername, password: readerPassword }
  return new ClickHouseUserQueryEngine({ ...shared, ...access })
}

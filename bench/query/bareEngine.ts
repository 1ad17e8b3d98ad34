/**
 * The rival: a driver that sends the statement which the gate makes of the query, under the
 * settings that ours runs under, and takes the answer as it comes. It checks, bounds, decodes and
 * writes nothing.
 */

import pg from 'pg'
import type { Engine } from '#primitives.ts'
import { gateClickHouse } from '#query/clickhouse/gate.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { gatePostgres, loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import { bindViews, type Catalog, restrictCatalog } from '#query/relations/catalog.ts'
import { relationsOf } from '#query/relations/views.ts'
import { viewSchemaOf } from '#store/sql.ts'
import type { RunningProgram } from '../program.ts'
import { chainId } from '../program.ts'
import type { BenchQuery } from './queries.ts'

type Connection = RunningProgram['connection']

interface Blocks {
  readonly from: number
  readonly to: number
}

export interface BareEngine {
  readonly engine: Engine
  /** A function that runs the query once over these blocks. */
  prepare(query: BenchQuery, blocks: Blocks): Promise<() => Promise<unknown>>
  close(): Promise<void>
}

/** The endpoint's default, and one more to know of a cut. */
const rowsMax = 10_001

export async function openBarePostgres({ databaseUrl }: Connection): Promise<BareEngine> {
  await loadPostgresGrammar()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query("SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '32MB'")
  return {
    engine: 'postgres',
    prepare: async (query, blocks) => {
      const { sql: text } = gatePostgres(query.sql, await catalogOf('postgres', query, blocks), rowsMax)
      return () =>
        client.query({ name: query.name, text, rowMode: 'array', types: { getTypeParser: () => String } })
    },
    close: () => client.end(),
  }
}

export async function openBareClickHouse(connection: Connection): Promise<BareEngine> {
  const settings = [
    'join_use_nulls',
    'group_by_use_nulls',
    'aggregate_functions_null_for_empty',
    'wait_end_of_query',
  ]
  const url = new URL(connection.clickhouseUrl)
  for (const setting of settings) url.searchParams.set(setting, '1')
  url.searchParams.set('max_threads', '2')
  const headers = {
    'x-clickhouse-user': connection.clickhouseUsername,
    'x-clickhouse-key': connection.clickhousePassword,
  }
  const send = async (body: string) => {
    const response = await fetch(url, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(await response.text())
    return response.arrayBuffer()
  }
  return {
    engine: 'clickhouse',
    prepare: async (query, blocks) => {
      const { sql } = gateClickHouse(query.sql, await catalogOf('clickhouse', query, blocks), rowsMax)
      return () => send(`${sql}\nFORMAT RowBinaryWithNamesAndTypes`)
    },
    close: async () => {},
  }
}

async function catalogOf(engine: Engine, { signatures }: BenchQuery, blocks: Blocks): Promise<Catalog> {
  const tables = await readSignatures(signatures, async () => undefined)
  return restrictCatalog(bindDecoded(bindViews(relationsOf(engine), viewSchemaOf(chainId)), tables), [blocks])
}

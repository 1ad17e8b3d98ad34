// Goal: SQL gives every number of every column, and every integer of every declared event, in arrays
// and tuples too, exactly and alike on both engines, at every edge of the ways to hold numbers.
// Method: generated from the tables, the views and the declarations, so that what is new is drilled
// too: rows and logs in which one number after the other is each edge its type holds.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relationsOf, views } from '#query/relations/views.ts'
import type { QueryResult, SqlValue, UserQueryEngine } from '#query/result.ts'
import { events } from '#transform/events/index.ts'
import { type Column, type ColumnType, type TableName, tables } from '#transform/tables.ts'
import { signatureOf } from '../../support/arbitraryEvent.ts'
import { edgeLogs, nestedEvents } from '../../support/edgeLogs.ts'
import { numberEdges, numberMaxima } from '../../transform/numberEdges.ts'
import { openEngine } from '../support/engine.ts'
import { expectedRow, logRow } from '../support/eventLogs.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import type { ExampleRow } from '../support/exampleRows.ts'

const drilled = [...events.map(({ abi }) => abi), ...nestedEvents]
/** None of an event without integers. */
const logs = drilled.map(edgeLogs)

/** Tables that views show; the logs are those of the events. */
const written: readonly TableName[] = [...new Set(views.map(({ table }) => table))].filter(
  (name) => name !== 'logs',
)

let chain: ExampleChain
let engines: readonly [UserQueryEngine, UserQueryEngine]

beforeAll(async () => {
  const rows = Object.fromEntries(written.map((name) => [name, writtenRows(name)]))
  const logRows = logs.flatMap((ofEvent, event) => ofEvent.map((log, index) => logRow(log, event, index)))
  chain = await createExampleChain({ ...rows, logs: logRows })
  engines = [openEngine(chain, 'postgres'), openEngine(chain, 'clickhouse')]
})

afterAll(async () => {
  for (const engine of engines ?? []) await engine.close()
  await chain?.close()
})

const run = (
  engine: UserQueryEngine,
  sql: string,
  signatures: readonly string[] = [],
): Promise<QueryResult> =>
  engine.run({ chainId: chain.chainId, sql, signatures, limit: 1_000, timeoutMs: 20_000 })

/** The engines' rows, each of them alike. */
async function rowsOf(
  sql: string,
  signatures: readonly string[] = [],
  of: readonly UserQueryEngine[] = engines,
): Promise<readonly SqlValue[][]> {
  const [one, ...others] = await Promise.all(of.map((engine) => run(engine, sql, signatures)))
  for (const other of others) {
    expect(other.rows).toEqual(one?.rows)
    expect(other.columnTypes).toEqual(one?.columnTypes)
  }
  return one?.rows.map((row) => [...row]) ?? []
}

describe('integers of events', () => {
  test.each(drilled.map((event, index) => [signatureOf(event), event, index] as const))(
    '%s',
    async (signature, event, index) => {
      const columns = event.inputs.map(({ name }) => `"${name}"`).join(', ')
      const sql = `SELECT ${columns} FROM ${event.name} WHERE block_num = ${index} ORDER BY log_idx`
      expect(await rowsOf(sql, [signature])).toEqual(logs[index]?.map((log) => expectedRow(event, log)))
    },
  )
})

describe('numbers of columns', () => {
  const columns = views.flatMap(({ name, table, columns: shown }) =>
    shown.flatMap((column) => {
      const stored = tables[table].columns.find((one) => one.name === column.source)
      const edges = stored ? edgesOfColumn(stored) : []
      return edges.length > 0
        ? [{ place: `${name}.${column.name}`, view: name, column, stored, table, edges }]
        : []
    }),
  )
  test.each(columns.filter(({ table }) => table !== 'logs'))(
    '$place',
    async ({ view, column, stored, edges }) => {
      const of = onPostgres.has(view) ? engines : engines.slice(1)
      const name = `"${column.name}"`
      const isTime = stored?.type === 'seconds'
      const shown = isTime ? `extract(epoch FROM ${name})::bigint` : name
      const among = (some: readonly bigint[]) =>
        `FROM ${view} WHERE ${name} IN (${some.map((edge) => (isTime ? `to_timestamp(${edge})` : edge)).join(', ')})`
      const found = await rowsOf(`SELECT ${shown} AS n ${among(edges)} ORDER BY ${name}`, [], of)
      expect(found.map(([value]) => BigInt(String(value)))).toEqual(edges)
      // ClickHouse says that a sum beyond 256 bits is one.
      const summed = edges.filter((edge) => edge < 2n ** 255n)
      const [[sum] = []] = await rowsOf(`SELECT sum(${shown}) AS s ${among(summed)}`, [], of)
      expect(BigInt(String(sum))).toBe(summed.reduce((all, edge) => all + edge, 0n))
    },
  )
})

/** Rows that others have in another order are ClickHouse's alone. */
const onPostgres = new Set(relationsOf('postgres').map(({ name }) => name))

function edgesOfColumn({ type }: Column): readonly bigint[] {
  const most = numberMaxima[type]
  return most === undefined ? [] : numberEdges.filter((edge) => edge <= most)
}

/** A row for each edge of each number of the table; all else is the same. */
function writtenRows(name: TableName): ExampleRow[] {
  const plain = Object.fromEntries(tables[name].columns.map((column) => [column.name, plainOf(column.type)]))
  return tables[name].columns.flatMap((column) =>
    edgesOfColumn(column).map((edge) => ({ ...plain, [column.name]: edge })),
  )
}

function plainOf(type: ColumnType): ExampleRow[string] {
  if (numberMaxima[type] !== undefined || type === 'int8') return 1
  if (type === 'bool') return false
  if (type === 'text') return '[]'
  return `0x${'03'.repeat(type === 'address' ? 20 : 32)}`
}

import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { EncodedTable, EncodedTables } from '#transform/batch.ts'
import { copyStream } from '#transform/encode/copy.ts'
import { ledgerTableNames, type TableName, tables } from '#transform/tables.ts'
import { quoteIdentifier } from '../sql.ts'

/**
 * Writes a batch's rows by binary COPY, table after table on one connection: all of it is one
 * transaction. `tableOf` names the relation, so that the same code fills the partitioned tables and
 * a chunk's detached ones.
 */
export function copyBatch(
  client: pg.PoolClient,
  batch: EncodedTables,
  tableOf: (name: TableName) => string,
): Promise<void> {
  return copyTables(client, batch, ledgerTableNames, tableOf)
}

/** The same of some tables of a batch. */
export async function copyTables(
  client: pg.PoolClient,
  batch: EncodedTables,
  names: readonly TableName[],
  tableOf: (name: TableName) => string,
): Promise<void> {
  for (const name of names) {
    if (batch[name].rowCount > 0) await copyTable(client, name, tableOf(name), batch[name])
  }
}

async function copyTable(
  client: pg.PoolClient,
  name: TableName,
  relation: string,
  rows: EncodedTable,
): Promise<void> {
  const columns = tables[name].columns.map((column) => quoteIdentifier(column.name)).join(', ')
  const stream = client.query(copyFrom(`COPY ${relation} (${columns}) FROM STDIN (FORMAT binary)`))
  for (const bytes of copyStream([rows])) stream.write(bytes)
  stream.end()
  await finished(stream)
}

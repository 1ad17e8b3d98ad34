/**
 * The rival: Fastify and pg and nothing else. Each list is one prepared statement with its values at hand and a function
 * that writes the same items; nothing is parsed, checked, tagged, sealed or counted, and no snapshot holds its reads together.
 */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'
import { presentReceipt } from '#api/routes/present/receipt.ts'
import { presentTransaction } from '#api/routes/present/transaction.ts'
import { chainId } from '#primitives.ts'
import { decodePostgresRow } from '#store/lists/row.ts'
import { prepareReading, schemaOf, toBytes } from '#store/postgres.ts'
import { withPayloads } from '#store/queries/transactions.ts'
import { type Rival, type Serving, serve } from './server.ts'

serve(async ({ databaseUrl, chainId: number, connectionsMax, rivals }) => {
  // Its connections are set as ours are: the comparison is of what stands around the query.
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connectionsMax, onConnect: prepareReading })
  pool.on('error', () => {})
  const app = Fastify({ logger: false })
  rivals.forEach((rival, index) => {
    const statement = { name: `list_${index}`, text: rival.text, values: rival.values.map(bound) }
    const show = presenters(pool, number)[rival.rows]
    app.get(`/${index}`, async () => {
      const { rows } = await pool.query<Row>(statement)
      return { data: await show(rows), nextCursor: null }
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
})

type Row = Record<string, unknown>

const bound = (value: string | number) => (typeof value === 'string' ? toBytes(value) : value)
const hex = (value: unknown) => (Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : null)
const moment = (value: unknown) => (value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : null)

function presenters(
  pool: pg.Pool,
  number: Serving['chainId'],
): Record<Rival['rows'], (rows: Row[]) => unknown[] | Promise<unknown[]>> {
  const payloads = (rows: Row[]) =>
    withPayloads(
      pool,
      { schema: schemaOf(number), finalized: 0 },
      rows.map((row) => decodePostgresRow('txs', row)),
    )
  return {
    blocks: (rows) =>
      rows.map((row) => ({
        id: hex(row['hash']),
        hash: hex(row['hash']),
        number: row['num'],
        timestamp: moment(row['timestamp']),
        transactionCount: row['tx_count'],
      })),
    transfers: (rows) =>
      rows.map((row) => ({
        id: `${hex(row['tx_hash'])}-${row['log_idx']}`,
        blockNumber: row['block_num'],
        logIndex: row['log_idx'],
        timestamp: moment(row['block_timestamp']),
        transactionHash: hex(row['tx_hash']),
        sender: hex(row['from']),
        recipient: hex(row['to']),
        sourceToken: { address: hex(row['token']), amount: row['amount'] },
      })),
    transactions: async (rows) =>
      (await payloads(rows)).map((detail) =>
        presentTransaction(detail, { receipt: false, feeToken: undefined }, chainId(number)),
      ),
    receipts: async (rows) => (await payloads(rows)).map((detail) => presentReceipt(detail)),
  }
}

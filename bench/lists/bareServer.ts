/**
 * The rival: Fastify and pg and nothing else. Each list is one prepared statement with its values
 * at hand and a function that writes the same items; nothing is parsed, checked, tagged, sealed or
 * counted, and no snapshot holds its reads together.
 */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'
import { presentActivity, tokensOf } from '#present/activity.ts'
import { presentBalance } from '#present/balance.ts'
import { presentReceipt } from '#present/receipt.ts'
import { presentTokenSummary } from '#present/token.ts'
import type { TokenName } from '#present/tokenNames.ts'
import { presentTransaction } from '#present/transaction.ts'
import { type Address, address } from '#primitives.ts'
import { finalIn } from '#store/ledger/lane.ts'
import { prepareReading } from '#store/postgres.ts'
import { readActivityFacts } from '#store/read/activityFacts.ts'
import { type StoredRow, storedTypes } from '#store/read/lists/row.ts'
import { withPayloads } from '#store/read/transactions.ts'
import { schemaOf, toBytes } from '#store/sql.ts'
import { listActivities } from '#transform/activities/listActivities.ts'
import { type Rival, type Serving, serve } from './server.ts'

serve(async ({ databaseUrl, chainId: number, connectionsMax, rivals }) => {
  // Its connections are set as ours are: the comparison is of what stands around the query.
  const connection = { connectionString: databaseUrl, max: connectionsMax }
  const prepared = new pg.Pool({ ...connection, onConnect: prepareReading })
  const planning = new pg.Pool({
    ...connection,
    onConnect: async (client) => {
      await prepareReading(client)
      await client.query('SET plan_cache_mode = auto')
    },
  })
  for (const pool of [prepared, planning]) pool.on('error', () => {})
  const app = Fastify({ logger: false })
  rivals.forEach((rival, index) => {
    const pool = rival.planned ? planning : prepared
    const name = rival.planned ? {} : { name: `list_${index}` }
    // Payloads are read by our code, which takes rows as ours are decoded.
    const types = rival.rows === 'transactions' || rival.rows === 'receipts' ? { types: storedTypes } : {}
    const statement = { ...name, ...types, text: rival.text, values: rival.values.map(bound) }
    const show = presenters(pool, number, rival)[rival.rows]
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

const bound = (value: Rival['values'][number]) =>
  typeof value === 'string' && value.startsWith('0x') ? toBytes(value) : value
const hex = (value: unknown) => (Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : null)
const moment = (value: unknown) => (value instanceof Date ? value.toISOString().replace('.000Z', 'Z') : null)

function presenters(
  pool: pg.Pool,
  number: Serving['chainId'],
  { account }: Rival,
): Record<Rival['rows'], (rows: Row[]) => unknown[] | Promise<unknown[]>> {
  const payloads = (rows: Row[]) =>
    withPayloads(pool, { schema: schemaOf(number), final: finalIn(null) }, rows as StoredRow<'txs'>[])
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
        presentTransaction(detail, { receipt: false, feeToken: undefined }, number),
      ),
    receipts: async (rows) => (await payloads(rows)).map((detail) => presentReceipt(detail)),
    tokens: (rows) => rows.map((row) => presentTokenSummary(`${hex(row['token'])}`, nameOf(row))),
    holders: (rows) =>
      rows.map((row) => ({ id: hex(row['address']), address: hex(row['address']), balance: row['balance'] })),
    balances: async (rows) => {
      const tokens = rows.map((row) => `${hex(row['address'])}`)
      const names = await readNames(pool, number, tokens)
      return rows.map((row, index) =>
        presentBalance({
          token: tokens[index] ?? '',
          balance: BigInt(String(row['balance'])),
          approximate: row['approximate'] === true,
          name: names.get(tokens[index] ?? ''),
          feeEligible: false,
        }),
      )
    },
    activities: (rows) => activities(pool, number, address(account ?? ''), rows),
  }
}

/** By our reads and rules, without pages that begin or end inside a transaction. */
async function activities(pool: pg.Pool, number: number, account: Address, rows: Row[]): Promise<unknown[]> {
  const places = rows.map((row) => ({
    blockNumber: Number(row['block_num']),
    txIndex: Number(row['tx_idx']),
  }))
  const facts = await readActivityFacts({ client: pool, schema: schemaOf(number) }, places)
  const found = facts.flatMap((of) =>
    listActivities(of, account, { quoteTokenOf: () => null, declared: [] }).map((item) => ({ of, item })),
  )
  const tokens = await readNames(pool, number, tokensOf(found.map(({ item }) => item)))
  const isVerified = () => false
  const view = {
    withEvents: false,
    chainId: null,
    isVerified,
    tokens,
    attributionNames: new Map<string, string>(),
  }
  return found.map(({ of, item }) => presentActivity(of, item, view))
}

async function readNames(
  pool: pg.Pool,
  number: number,
  tokens: readonly string[],
): Promise<Map<string, TokenName>> {
  const { rows } = await pool.query<Row>({
    name: 'names',
    text: `SELECT token, name, symbol, currency FROM ${schemaOf(number)}.tokens_current WHERE token = ANY ($1)`,
    values: [tokens.map(toBytes)],
  })
  return new Map(rows.map((row) => [`${hex(row['token'])}`, nameOf(row)]))
}

const nameOf = (row: Row): TokenName => ({
  name: String(row['name']),
  symbol: String(row['symbol']),
  currency: String(row['currency']),
  decimals: 6,
  logoUri: null,
  verified: false,
})

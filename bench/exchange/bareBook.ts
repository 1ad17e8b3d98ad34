/**
 * The rival of depth and feed: Fastify and pg and nothing else. Each is one prepared statement of
 * the rows and a function that writes the same items; a base token has one pair for it, nothing is
 * checked, tagged or waited for, and no snapshot says how far the answer goes.
 */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import pg from 'pg'
import { formatUnits, getAddress } from 'viem/utils'
import { prepareReading } from '#store/postgres.ts'
import { schemaOf, toBytes } from '#store/sql.ts'
import { serve } from '../lists/server.ts'

serve(async ({ databaseUrl, chainId, connectionsMax }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connectionsMax, onConnect: prepareReading })
  pool.on('error', () => {})
  const schema = schemaOf(chainId)
  const levels = {
    name: 'levels',
    text: `SELECT tick, size, is_bid FROM ${schema}.exchange_levels_current JOIN ${schema}.exchange_pairs_current USING (pair)
           WHERE base = $1 AND size > 0 ORDER BY is_bid, tick`,
  }
  const fills = {
    name: 'fills',
    text: `SELECT * FROM ${schema}.exchange_fills WHERE block_num BETWEEN $1 AND $2 ORDER BY block_num, log_idx`,
  }
  const app = Fastify({ logger: false })
  app.get<{ Querystring: { base: string } }>('/depth', async ({ query: { base } }) => {
    const { rows } = await pool.query<Row>({ ...levels, values: [toBytes(base)] })
    const side = (isBid: boolean) => showLevels(rows.filter((row) => row['is_bid'] === isBid))
    return { bids: side(true).reverse(), asks: side(false) }
  })
  app.get<{ Querystring: { fromBlock: string; toBlock: string } }>('/events', async ({ query }) => {
    const { rows } = await pool.query<Row>({ ...fills, values: [query.fromBlock, query.toBlock] })
    return { events: rows.map(showFill) }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
})

type Row = Record<string, unknown>

const hex = (value: unknown) => (Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : '0x')
const scaled = (value: unknown) => formatUnits(BigInt(String(value)), 6)
const priced = (tick: unknown) => formatUnits(100_000n + BigInt(String(tick)), 5)

function showLevels(rows: readonly Row[]): object[] {
  let cumulative = 0n
  return rows.map(({ tick, size }) => {
    cumulative += BigInt(String(size))
    return { id: `level-${tick}`, tick, price: priced(tick), size, cumulativeSize: `${cumulative}` }
  })
}

function showFill(row: Row): object {
  const [base, quote] = [scaled(row['amount']), scaled(row['quote_amount'])]
  const moment = row['block_timestamp']
  return {
    block: {
      blockNumber: row['block_num'],
      blockTimestamp: moment instanceof Date ? moment.getTime() / 1000 : null,
    },
    eventType: 'swap',
    txnId: hex(row['tx_hash']),
    txnIndex: row['tx_idx'],
    eventIndex: row['tx_log_idx'],
    maker: getAddress(hex(row['taker'])),
    pairId: hex(row['pair']),
    ...(row['is_bid'] ? { asset0In: base, asset1Out: quote } : { asset1In: quote, asset0Out: base }),
    priceNative: priced(row['tick']),
    reserves: { asset0: scaled(row['reserve0']), asset1: scaled(row['reserve1']) },
  }
}

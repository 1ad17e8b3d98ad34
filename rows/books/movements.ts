/** Rows of money beside the transfers that they say a chain has. */
import { type RawBuilder, sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { sentWith } from '../payments/payouts.ts'

/** A payment that settled, a payout that was paid, or a spend of the wallet. */
export interface MoneyMovement {
  readonly id: string
  readonly txHash: string
  /** Lowercase addresses; null where any account of the service may have sent it. */
  readonly from: string | null
  readonly to: string
  readonly currency: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
}

/** Unix seconds: behind `after`, up to `until`. */
export interface Window {
  readonly after: number
  readonly until: number
}

/** Those of channels are none: their transfers are captures. One that was reversed has no transfer. */
const movements = (chainId: number) => sql`
  SELECT id, tx_hash, payer AS source, recipient, currency, amount, settled_at AS at FROM app.payments
  WHERE chain_id = ${chainId} AND state = 'settled' AND method <> 'tempo/session' AND proof IS DISTINCT FROM 'reversed'
  UNION ALL
  SELECT o.id, t.tx_hash, NULL, o.recipient, o.currency, o.amount + ${sentWith(sql`o.id`)}, o.paid_at
  FROM app.payouts o JOIN app.payout_transactions t ON t.payout_id = o.id AND t.attempt = o.attempt
  WHERE o.chain_id = ${chainId} AND o.state = 'paid'
  UNION ALL
  SELECT id, tx_hash, payer, recipient, currency, amount, ended_at FROM app.spends
  WHERE chain_id = ${chainId} AND state = 'settled'`

interface MovementRow {
  readonly id: string
  readonly tx_hash: Buffer
  readonly source: Buffer | null
  readonly recipient: Buffer
  readonly currency: Buffer
  readonly amount: string
}

/** Those that name one of the transactions. */
export const movementsBy = async (
  app: AppDatabase,
  chainId: number,
  hashes: readonly string[],
): Promise<readonly MoneyMovement[]> =>
  hashes.length === 0
    ? []
    : select(app, chainId, sql`tx_hash = ANY(${hashes.map((hash) => Buffer.from(toBytes(hash)))})`)

/** Those that ended within the time, in the order of their ids. @param after empty for the first */
export const movementsWithin = (
  app: AppDatabase,
  chainId: number,
  window: Window,
  after: string,
  limit: number,
): Promise<readonly MoneyMovement[]> =>
  select(app, chainId, sql`tx_hash IS NOT NULL AND id > ${after} AND ${isWithin(window)}`, limit)

const isWithin = ({ after, until }: Window) =>
  sql`at > to_timestamp(${after}::float8) AND at <= to_timestamp(${until}::float8)`

async function select(
  app: AppDatabase,
  chainId: number,
  where: RawBuilder<unknown>,
  limit: number | null = null,
): Promise<readonly MoneyMovement[]> {
  const { rows } = await sql<MovementRow>`
    SELECT id, tx_hash, source, recipient, currency, amount FROM (${movements(chainId)}) AS moved
    WHERE ${where} ORDER BY id LIMIT ${limit}`.execute(app)
  return rows.map((row) => ({
    id: row.id,
    txHash: toHex(row.tx_hash),
    from: row.source && toHex(row.source),
    to: toHex(row.recipient),
    currency: toHex(row.currency),
    amount: BigInt(row.amount),
  }))
}

/** The oldest ones. */
export async function firstMovements(
  app: AppDatabase,
  chainId: number,
  limit: number,
): Promise<readonly Pick<MoneyMovement, 'id' | 'txHash'>[]> {
  const { rows } = await sql<{ id: string; tx_hash: Buffer }>`
    SELECT id, tx_hash FROM (${movements(chainId)}) AS moved WHERE tx_hash IS NOT NULL
    ORDER BY at LIMIT ${limit}`.execute(app)
  return rows.map((row) => ({ id: row.id, txHash: toHex(row.tx_hash) }))
}

/** Unix seconds, by the clock that rows are ended by. */
export async function rowsNow(app: AppDatabase): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT floor(extract(epoch FROM clock_timestamp()))::float8 AS seconds`.execute(app)
  return rows[0]?.seconds ?? 0
}

/** The same as long as none of the movements up to then is changed, taken away or added. */
export async function digestOfMovements(app: AppDatabase, chainId: number, until: number): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    SELECT count(*) || ':' || coalesce(sum(hashtextextended(concat_ws(':', id, encode(tx_hash, 'hex'), encode(source, 'hex'),
      encode(recipient, 'hex'), encode(currency, 'hex'), amount), 0)), 0) AS digest
    FROM (${movements(chainId)}) AS moved WHERE ${isWithin({ after: 0, until })}`.execute(app)
  return rows[0]?.digest ?? ''
}

/** Fees that the service takes over for its payers: a limit a day, which all processes share. */
import { sql } from 'kysely'
import { toBytes } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'

export interface SponsoredFee {
  readonly chainId: number
  /** At most, in millionths of a dollar. */
  readonly fee: bigint
  /** A day's. */
  readonly limit: bigint
}

/** False where the day's limit does not hold it. */
export async function reserveFee(app: AppDatabase, { chainId, fee, limit }: SponsoredFee): Promise<boolean> {
  if (fee > limit) return false
  const { numInsertedOrUpdatedRows } = await app
    .insertInto('app.sponsored_days')
    .values({ chain_id: chainId, day: today, reserved: fee })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'day'])
        .doUpdateSet({ reserved: grown(fee) })
        .where(grown(fee), '<=', sql<string>`${`${limit}`}::numeric`),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Keeps the transaction that is about to be sent for a payment. */
export async function keepHash(app: AppDatabase, identity: string, txHash: string): Promise<void> {
  await app
    .updateTable('app.payments')
    .set({ tx_hash: toBytes(txHash) })
    .where('identity', '=', identity)
    .where('state', '=', 'sending')
    .execute()
}

/** The rest of today's limit, in millionths of a dollar. */
export async function leftToday(app: AppDatabase, chainId: number, limit: bigint): Promise<bigint> {
  const row = await app
    .selectFrom('app.sponsored_days')
    .select('reserved')
    .where('chain_id', '=', chainId)
    .where('day', '=', today)
    .executeTakeFirst()
  return limit - BigInt(row?.reserved ?? 0)
}

const today = sql<string>`to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`

const grown = (fee: bigint) => sql<string>`app.sponsored_days.reserved + ${`${fee}`}::numeric`

/**
 * Transfers that left on a chain and that the rows have forgotten, by their stated purposes: a debt or a
 * call that such a transfer has paid is not paid again.
 */
import { sql } from 'kysely'
import type { Marked, Transferred } from '#money/outflows.ts'
import { advisoryLocks } from '#store/locks.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import { finishElsewhere, finishWith, type PaidBy } from './debts.ts'
import type { Payout } from './payouts.ts'

export interface Forgotten {
  readonly chainId: number
  readonly txHash: `0x${string}`
  /** Lowercase addresses. */
  readonly account: `0x${string}`
  readonly currency: `0x${string}`
  readonly to: `0x${string}`
  /** In the currency's smallest unit. */
  readonly amount: bigint
  readonly memo: `0x${string}`
  readonly blockNumber: number
  /** Unix seconds; nothing that it was signed with can be mined from then on. */
  readonly validBeforeSeconds: number
}

/** Rows of one statement. */
const PAGE = 1_000
/** No credential or debt is signed for longer. */
const VALID_SECONDS = 660
/** Jobs that a restored database has end within hours, and make their debts again. */
const DOUBTED_DAYS = 7

/** Once each, however often. */
export async function keepForgotten(
  app: AppDatabase,
  chainId: number,
  outflows: readonly (Transferred & Marked)[],
): Promise<void> {
  for (let at = 0; at < outflows.length; at += PAGE)
    await app
      .insertInto('app.forgotten_outflows')
      .values(
        outflows.slice(at, at + PAGE).map(({ txHash, from, token, to, memo, ...outflow }) => ({
          ...{ chain_id: chainId, tx_hash: toBytes(txHash), log_index: outflow.logIndex },
          ...{ account: toBytes(from), currency: toBytes(token), recipient: toBytes(to) },
          ...{ amount: outflow.amount, memo: memo && toBytes(memo), block_number: outflow.blockNumber },
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Transfers that may have paid a debt before the database was restored; null if none may. */
export interface PaidBefore {
  /** Its memo is one of the debt's. */
  readonly own: Forgotten | null
  /** Moved more to the debt's account, maybe for it and others, and nobody has said that it did not. */
  readonly larger: Forgotten | null
}

/** @param memos those that the debt's transactions would have */
export async function findPaidBefore(
  app: AppDatabase,
  { id }: Pick<Payout, 'id'>,
  memos: readonly string[],
): Promise<PaidBefore> {
  const own = sql<boolean>`coalesce(f.memo = ANY (${memos.map(toBytes)}), false)`
  const rows = await app
    .selectFrom('app.payouts as out')
    .innerJoin('app.forgotten_outflows as f', 'f.chain_id', 'out.chain_id')
    .distinctOn(sql.ref('is_own'))
    .select(columns)
    .select(own.as('is_own'))
    .where('out.id', '=', id)
    .where((is) => is.or([own, sql<boolean>`out.attempt = 0 AND ${isInDoubt}`]))
    .orderBy('is_own')
    .execute()
  const found = (isOwn: boolean) => {
    const row = rows.find((each) => each.is_own === isOwn)
    return row ? forgottenOf(row) : null
  }
  return { own: found(true), larger: found(false) }
}

/** The amount that rows explain of the forgotten transfer `f`. */
const explained = sql<string>`(
  SELECT coalesce(sum(p.amount), 0) FROM app.payout_transactions t
    JOIN app.payouts p ON p.state = 'paid' AND t.payout_id IN (p.id, p.sent_with)
  WHERE t.chain_id = f.chain_id AND t.tx_hash = f.tx_hash)`

/** Whether the forgotten transfer `f` moved enough to have paid the debt `out` with others. */
const isInDoubt = sql<boolean>`(
  NOT out.surely_unpaid
  AND f.chain_id = out.chain_id AND f.recipient = out.recipient AND f.currency = out.currency
  AND f.amount > out.amount AND f.amount >= out.amount + ${explained}
  AND out.queued_at < f.noted_at + ${DOUBTED_DAYS} * interval '1 day')`

/** Whether no forgotten transfer can have paid the debt `out`, also not with others. */
export const isSurelyUnpaid = sql<boolean>`(
  out.surely_unpaid OR NOT EXISTS (SELECT FROM app.forgotten_outflows f WHERE ${isInDoubt}))`

/** An operator's word: the debt goes at once. False where it waits for none. */
export async function declareUnpaid(app: AppDatabase, id: string): Promise<boolean> {
  const { numUpdatedRows } = await app
    .updateTable('app.payouts as out')
    .set((row) => ({
      ...{ surely_unpaid: true, failures: 0, held_until: databaseNow, problem: null },
      // A process that has it writes no more.
      hold: sql<number>`${row.ref('hold')} + 1`,
    }))
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .where('attempt', '=', 0)
    .where('sent_with', 'is', null)
    .where((is) => is.not(isSurelyUnpaid))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * An operator's word: a forgotten transfer, which is final, has paid the debt among others. False where it
 * did not move enough to its account, or something was signed for the debt.
 */
export async function finishPaidAmong(app: AppDatabase, payout: Payout, by: PaidBy): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.collecting})`.execute(transaction)
    const row = await transaction
      .selectFrom('app.payouts as out')
      .innerJoin('app.forgotten_outflows as f', 'f.chain_id', 'out.chain_id')
      .leftJoin('app.payout_transactions as first', (join) =>
        join.onRef('first.chain_id', '=', 'f.chain_id').onRef('first.tx_hash', '=', 'f.tx_hash'),
      )
      .select('first.payout_id')
      .where('out.id', '=', payout.id)
      .where('f.tx_hash', '=', Buffer.from(toBytes(by.txHash)))
      .where(isInDoubt)
      .limit(1)
      .executeTakeFirst()
    if (!row) return false
    return row.payout_id === null
      ? finishElsewhere(transaction, payout, by)
      : finishWith(transaction, payout, { id: row.payout_id, blockNumber: by.blockNumber })
  })
}

/** Forgotten transfers that paid calls and that no spend has, by the calls' codes. */
export async function findForgottenCalls(
  app: AppDatabase,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Forgotten>> {
  if (codes.length === 0) return new Map()
  const rows = await app
    .selectFrom('app.forgotten_outflows as f')
    .select([...columns, 'call_code'])
    .where(
      'call_code',
      'in',
      codes.map((code) => Buffer.from(toBytes(code))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('app.spends as s').select('s.id').whereRef('s.tx_hash', '=', 'f.tx_hash'))),
    )
    .execute()
  return new Map(rows.flatMap((row) => (row.call_code ? [[toHex(row.call_code), forgottenOf(row)]] : [])))
}

const columns = [
  ...(['f.chain_id', 'f.tx_hash', 'f.account', 'f.currency', 'f.recipient'] as const),
  ...(['f.amount', 'f.memo', 'f.block_number'] as const),
  sql<number>`floor(extract(epoch FROM f.noted_at))::float8`.as('noted_seconds'),
] as const

interface ForgottenRow {
  readonly chain_id: number
  readonly tx_hash: Buffer
  readonly account: Buffer
  readonly currency: Buffer
  readonly recipient: Buffer
  readonly amount: string
  readonly memo: Buffer | null
  readonly block_number: number
  readonly noted_seconds: number
}

const forgottenOf = (row: ForgottenRow): Forgotten => ({
  chainId: row.chain_id,
  txHash: toHex(row.tx_hash),
  account: toHex(row.account),
  currency: toHex(row.currency),
  to: toHex(row.recipient),
  amount: BigInt(row.amount),
  memo: toHex(row.memo ?? Buffer.alloc(32)),
  blockNumber: row.block_number,
  validBeforeSeconds: row.noted_seconds + VALID_SECONDS,
})

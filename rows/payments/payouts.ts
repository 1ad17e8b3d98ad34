/**
 * Money that the service owes and sends. A row is one debt. One process works on it at a time;
 * `hold` keeps one that was paused past its time from writing. A signed transaction is stored
 * before it is sent, and the next one is stored only for a row that was put back.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Fee } from '#money/fees.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { wordOf } from '../schema/words.ts'
import { addEntries, feeEntries } from './ledger.ts'

/**
 * - `queued`: no transaction of it can be mined;
 * - `sending`: its last transaction may be mined;
 * - `paid`: a final block has it;
 * - `withdrawn`: the chain took back what it was owed for.
 */
export type PayoutState = 'queued' | 'sending' | 'paid' | 'withdrawn'

/** The kind of a debt: `refunds` and `rewards` are the accounts that hold it. */
export type PayoutKind = 'refund' | 'reward'

export interface PayoutTerms {
  readonly kind: PayoutKind
  /** The cause of the debt; each is paid once for each kind. */
  readonly reference: string
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly currency: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
  /** Lowercase address. */
  readonly to: string
}

export interface SignedTransaction {
  /** An authorization goes by its own hash until a block has it. */
  readonly txHash: string
  /** As it is sent. */
  readonly raw: string
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
}

export interface Payout extends PayoutTerms {
  readonly id: string
  readonly state: PayoutState
  /** Transactions that were signed for it. */
  readonly attempt: number
  /** Tries that failed since the last that did not. */
  readonly failures: number
  /** Why it is not paid yet. */
  readonly problem: string | null
  /** The amount of its transfer: its own, and those of the payouts that are sent with it. */
  readonly total: bigint
  /** The most that a reward may cost as its part of the fee of its transfer; null goes at once. */
  readonly feePart: bigint | null
  /** The payout whose transfer pays this one too; its state and attempt are told here. */
  readonly sentWith: string | null
  readonly queuedAt: Date
  readonly paidAt: Date | null
  /** The last transaction; null where none was signed. */
  readonly transaction: SignedTransaction | null
}

/** A row that this process works on. */
export interface HeldPayout extends Payout {
  readonly hold: number
}

/** Takes what is due on a chain, the longest first; others that take at the same time get others. */
export async function takePayouts(
  app: AppDatabase,
  chainId: number,
  limit: number,
  holdMs: number,
): Promise<readonly HeldPayout[]> {
  return app.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('app.payouts')
      .select('id')
      .where('state', 'in', ['queued', 'sending'])
      .where('chain_id', '=', chainId)
      .where('sent_with', 'is', null)
      .where('held_until', '<', databaseNow)
      .orderBy('held_until')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    const ids = due.map(({ id }) => id)
    if (ids.length === 0) return []
    await transaction
      .updateTable('app.payouts')
      .set((row) => ({ hold: sql<number>`${row.ref('hold')} + 1`, held_until: fromNow(holdMs) }))
      .where('id', 'in', ids)
      .execute()
    const rows = await selected(transaction).where('out.id', 'in', ids).orderBy('out.id').execute()
    return rows.map(heldOf)
  })
}

/**
 * Keeps the transaction that will be sent. False where another process has the row now. Nobody else
 * signs before the caller's transaction ends.
 */
export async function keepSigned(
  transaction: AppDatabase,
  { id, hold, attempt, chainId }: HeldPayout,
  { txHash, raw, validBeforeSeconds }: SignedTransaction,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('app.payouts')
    .set({ state: 'sending', attempt: attempt + 1, problem: null })
    .where('id', '=', id)
    .where('hold', '=', hold)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await transaction
    .insertInto('app.payout_transactions')
    .values({
      payout_id: id,
      attempt: attempt + 1,
      chain_id: chainId,
      tx_hash: toBytes(txHash),
      raw: toBytes(raw),
      valid_before: new Date(validBeforeSeconds * 1_000),
    })
    .execute()
  return true
}

/** Looked at again after a while; `problem` says why, and null that all goes its way. */
export async function letPayoutGo(
  app: AppDatabase,
  { id, hold, failures }: HeldPayout,
  afterMs: number,
  problem: string | null,
): Promise<void> {
  await app
    .updateTable('app.payouts')
    .set({ held_until: fromNow(afterMs), problem, failures: problem === null ? 0 : failures + 1 })
    .where('id', '=', id)
    .where('hold', '=', hold)
    .execute()
}

/** Looked at again after a while, for a cause that is not its own, such as a pause: it has not failed. */
export async function deferPayout(
  app: AppDatabase,
  { id, hold }: HeldPayout,
  afterMs: number,
  problem: string,
): Promise<void> {
  await app
    .updateTable('app.payouts')
    .set({ held_until: fromNow(afterMs), problem })
    .where('id', '=', id)
    .where('hold', '=', hold)
    .execute()
}

/**
 * Its transaction can be mined no more, and has not paid it: another one may be signed.
 * @param fee what the chain took for it, if a final block has it; booked with that
 */
export async function requeuePayout(
  app: AppDatabase,
  { id, hold, attempt, failures, chainId }: HeldPayout,
  afterMs: number,
  problem: string,
  fee: Fee | null,
): Promise<void> {
  await app.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('app.payouts')
      .set({ state: 'queued', problem, failures: failures + 1, held_until: fromNow(afterMs) })
      .where('id', '=', id)
      .where('hold', '=', hold)
      .where('attempt', '=', attempt)
      .where('state', '=', 'sending')
      .executeTakeFirst()
    const booked = fee && numUpdatedRows > 0n ? feeEntries(chainId, fee) : []
    if (booked.length > 0) await addEntries(transaction, `${id}/reverted/${attempt}`, booked)
  })
}

/** By its own id; null for none. */
export async function findPayoutById(app: AppDatabase, id: string): Promise<Payout | null> {
  const row = await selected(app).where('out.id', '=', id).executeTakeFirst()
  return row ? payoutOf(row) : null
}

/** Whether a transaction of the chain is a payout's already. */
export async function isPayoutTransaction(
  app: AppDatabase,
  chainId: number,
  txHash: string,
): Promise<boolean> {
  const row = await app
    .selectFrom('app.payout_transactions')
    .select('payout_id')
    .where('chain_id', '=', chainId)
    .where('tx_hash', '=', Buffer.from(toBytes(txHash)))
    .executeTakeFirst()
  return row !== undefined
}

/** The payout for something, owed or paid; null if there is none. */
export async function findPayout(
  app: AppDatabase,
  kind: PayoutKind,
  reference: string,
): Promise<Payout | null> {
  const row = await selected(app)
    .where('out.kind', '=', kind)
    .where('out.reference', '=', reference)
    .where('out.state', '<>', 'withdrawn')
    .executeTakeFirst()
  return row ? payoutOf(row) : null
}

/** The sum of the payouts that are sent with a payout. */
export const sentWith = (id: RawBuilder<unknown>) =>
  sql`(SELECT coalesce(sum(w.amount), 0) FROM app.payouts w WHERE w.sent_with = ${id})`

/** As `payoutOf` reads them. */
export const selected = (app: AppDatabase) =>
  app
    .selectFrom('app.payouts as out')
    // The one that its transfer is of.
    .innerJoin('app.payouts as of', (join) =>
      join.on('of.id', '=', sql<string>`coalesce(out.sent_with, out.id)`),
    )
    .leftJoin('app.payout_transactions as sent', (join) =>
      join.onRef('sent.payout_id', '=', 'of.id').onRef('sent.attempt', '=', 'of.attempt'),
    )
    .select([
      ...(['out.id', 'out.kind', 'out.reference', 'out.chain_id', 'out.currency', 'out.amount'] as const),
      ...([
        'out.recipient',
        'of.state',
        'of.attempt',
        'out.failures',
        'out.problem',
        'out.hold',
        'out.sent_with',
        'out.fee_part',
      ] as const),
      ...(['out.queued_at', 'out.paid_at', 'sent.tx_hash', 'sent.raw', 'sent.valid_before'] as const),
      sql<string>`out.amount + ${sentWith(sql`out.id`)}`.as('total'),
    ])

type PayoutRow = Awaited<ReturnType<ReturnType<typeof selected>['executeTakeFirstOrThrow']>>

export const payoutOf = (row: PayoutRow): Payout => ({
  id: row.id,
  kind: payoutKindOf(row.kind),
  reference: row.reference,
  chainId: row.chain_id,
  currency: toHex(row.currency),
  amount: BigInt(row.amount),
  to: toHex(row.recipient),
  state: payoutStateOf(row.state),
  attempt: row.attempt,
  failures: row.failures,
  problem: row.problem,
  total: BigInt(row.total),
  feePart: row.fee_part === null ? null : BigInt(row.fee_part),
  sentWith: row.sent_with,
  queuedAt: row.queued_at,
  paidAt: row.paid_at,
  transaction:
    row.tx_hash && row.raw && row.valid_before
      ? {
          txHash: toHex(row.tx_hash),
          raw: toHex(row.raw),
          validBeforeSeconds: Math.floor(row.valid_before.getTime() / 1_000),
        }
      : null,
})

const heldOf = (row: PayoutRow): HeldPayout => ({ ...payoutOf(row), hold: row.hold })

const states: readonly PayoutState[] = ['queued', 'sending', 'paid', 'withdrawn']
const kinds: readonly PayoutKind[] = ['refund', 'reward']

/** @throws UnknownWordError */
export const payoutStateOf = (text: string): PayoutState => wordOf(states, text, 'a payout')
/** @throws UnknownWordError */
export const payoutKindOf = (text: string): PayoutKind => wordOf(kinds, text, 'a payout')

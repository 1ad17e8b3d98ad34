/**
 * Payments of callers. A row is claimed before a credential is spent, and stays: neither its
 * challenge nor its transaction pays twice. One process works on a row at a time; `attempt` keeps
 * one that was paused past its time from writing.
 */
import { sql } from 'kysely'
import { channelAccount, payerAccount, revenueAccount } from '#money/accounts.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { newTimedId } from '../identifiers.ts'
import { wordOf } from '../schema/words.ts'
import { addEntries, addOwed, type Entry } from './ledger.ts'

/**
 * - `claimed`: nothing was sent to the chain;
 * - `sending`: it may have settled;
 * - `settled`;
 * - `failed`: it surely did not settle.
 */
export type PaymentState = 'claimed' | 'sending' | 'settled' | 'failed'

/** A credential that could be spent now, as its method read it. */
export interface CheckedPayment {
  /** The challenge or nonce that it spends: no other payment has it, ever. */
  readonly identity: string
  /** SHA-256 of the credential, which itself is stored nowhere. */
  readonly credentialDigest: Uint8Array
  readonly chainId: number
  /** Lowercase address. */
  readonly currency: string
  /** In the currency's smallest unit. */
  readonly amount: bigint
  readonly recipient: string
  readonly payer: string
  /** Null until it is known. */
  readonly txHash: string | null
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
  /** The payer's own name for it: one of the payer's payments has it. Null for none. */
  readonly reference: string | null
}

/** The terms of one payment. */
export interface PaymentTerms extends CheckedPayment {
  /** SHA-256 of the request that it pays for. */
  readonly requestDigest: Uint8Array
  readonly scope: string
  /** Which of the methods tells its outcome, such as `tempo/charge`. */
  readonly method: string
}

export interface Payment extends PaymentTerms {
  readonly id: string
  readonly state: PaymentState
  /** Once it is settled. */
  readonly receipt: string | null
  readonly attempt: number
  /** Whether a process works on it now. */
  readonly isHeld: boolean
  readonly isAnswered: boolean
  /** Null before it is settled. */
  readonly settledAt: Date | null
}

/** The row, as the process that holds it names it. */
export type HeldPayment = Pick<Payment, 'id' | 'attempt'>

/** Writes that become true together with a payment. */
export type Alongside = (transaction: AppDatabase, payment: Payment) => Promise<void>

/**
 * Null where its challenge, credential or transaction has a row already.
 * @param alongside in the same transaction
 */
export async function claimPayment(
  app: AppDatabase,
  terms: PaymentTerms,
  nowMs: number,
  holdMs: number,
  alongside?: Alongside,
): Promise<Payment | null> {
  if (!alongside) return insertPayment(app, terms, nowMs, holdMs)
  return app.transaction().execute(async (transaction) => {
    const payment = await insertPayment(transaction, terms, nowMs, holdMs)
    if (payment) await alongside(transaction, payment)
    return payment
  })
}

async function insertPayment(
  app: AppDatabase,
  terms: PaymentTerms,
  nowMs: number,
  holdMs: number,
): Promise<Payment | null> {
  const row = await app
    .insertInto('app.payments')
    .values({
      id: newTimedId('pay', nowMs),
      identity: terms.identity,
      request_digest: terms.requestDigest,
      credential_digest: terms.credentialDigest,
      scope: terms.scope,
      method: terms.method,
      chain_id: terms.chainId,
      currency: toBytes(terms.currency),
      amount: terms.amount,
      recipient: toBytes(terms.recipient),
      payer: toBytes(terms.payer),
      tx_hash: terms.txHash === null ? null : toBytes(terms.txHash),
      valid_before: new Date(terms.validBeforeSeconds * 1_000),
      reference: terms.reference,
      held_until: fromNow(holdMs),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(columns)
    .executeTakeFirst()
  return row ? paymentOf(row) : null
}

/** By what it spends, or by its transaction. */
export async function findPayment(
  app: AppDatabase,
  { identity, txHash = null }: { readonly identity: string; readonly txHash?: string | null },
): Promise<Payment | null> {
  const row = await app
    .selectFrom('app.payments')
    .select(columns)
    .where((is) =>
      is.or([
        is('identity', '=', identity),
        ...(txHash === null ? [] : [is('tx_hash', '=', Buffer.from(toBytes(txHash)))]),
      ]),
    )
    .executeTakeFirst()
  return row ? paymentOf(row) : null
}

/** From now on it may settle. False where another process has taken it. */
export async function beginSending(app: AppDatabase, held: HeldPayment, holdMs: number): Promise<boolean> {
  const { numUpdatedRows } = await ofHolder(app, held)
    .set({ state: 'sending', held_until: fromNow(holdMs) })
    .where('state', 'in', ['claimed', 'sending'])
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * Gives back what nothing was sent of: its challenge may pay still.
 * @param state `sending` for the process that knows that it sent nothing
 */
export async function releaseClaim(
  app: AppDatabase,
  { id, attempt }: HeldPayment,
  state: 'claimed' | 'sending' = 'claimed',
): Promise<void> {
  await app
    .deleteFrom('app.payments')
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('state', '=', state)
    .execute()
}

/** Ends the hold, so that another process may go on. @param afterMs not before */
export async function letGo(app: AppDatabase, held: HeldPayment, afterMs = 0): Promise<void> {
  await ofHolder(app, held)
    .set({ held_until: fromNow(afterMs) })
    .execute()
}

/**
 * Settled, with its receipt and its entries, in one transaction. False where it was settled already.
 * One that was held to have failed is owed at once: its payer was told to pay anew.
 * @param alongside in the same transaction
 */
export async function settlePayment(
  app: AppDatabase,
  payment: Payment,
  { receipt, txHash }: { readonly receipt: string; readonly txHash: string | null },
  alongside?: Alongside,
): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    const row = await transaction
      .updateTable('app.payments')
      .set({ state: 'settled', receipt, settled_at: databaseNow })
      .set({ owed_at: sql`CASE WHEN state = 'failed' THEN ${databaseNow} END` })
      .$if(txHash !== null, (row) => row.set({ tx_hash: toBytes(txHash ?? '') }))
      .where('id', '=', payment.id)
      .where('state', '<>', 'settled')
      .returning('owed_at')
      .executeTakeFirst()
    if (!row) return false
    await addEntries(transaction, payment.id, entriesOf(payment))
    if (row.owed_at) await addOwed(transaction, payment)
    else await alongside?.(transaction, payment)
    return true
  })
}

const entriesOf = ({
  scope,
  method,
  identity,
  payer,
  chainId,
  currency,
  amount,
}: Payment): readonly Entry[] => [
  { account: payingAccount({ method, identity, payer }), chainId, currency, amount: -amount },
  { account: revenueAccount(scope), chainId, currency, amount },
]

/** The payer of what was paid. A channel pays out later: until then its payer has paid nothing. */
export const payingAccount = ({
  method,
  identity,
  payer,
}: Pick<Payment, 'method' | 'identity' | 'payer'>): string =>
  method === CHANNEL_METHOD ? channelAccount(channelIn(identity)) : payerAccount(payer)

/** The method whose payments are taken from a channel: its id begins the identity. */
export const CHANNEL_METHOD = 'tempo/session'
const channelIn = (identity: string): string => identity.split(':')[0] ?? ''

/** It surely did not settle. */
export async function failPayment(app: AppDatabase, held: HeldPayment): Promise<void> {
  await ofHolder(app, held).set({ state: 'failed' }).where('state', '<>', 'settled').execute()
}

/** Payments by the methods whose outcome nobody looks for, the longest first. */
export async function listUnknown(
  app: AppDatabase,
  methods: readonly string[],
  limit: number,
): Promise<readonly Payment[]> {
  const rows = await app
    .selectFrom('app.payments')
    .select(columns)
    .where('state', 'in', ['claimed', 'sending'])
    .where('method', 'in', methods)
    .where('held_until', '<', databaseNow)
    .orderBy('held_until')
    .limit(limit)
    .execute()
  return rows.map(paymentOf)
}

export interface ListedPayment extends Payment {
  /** The chain took it back. */
  readonly isReversed: boolean
  /** Its money belongs to its payer. */
  readonly isOwed: boolean
  readonly claimedAt: Date
}

/**
 * The newest first, or those before the one of the id `before`. `isUnrefunded`: those alone that are owed
 * and whose refund nobody has queued.
 */
export async function listPayments(
  app: AppDatabase,
  limit: number,
  { before = null, isUnrefunded = false }: { before?: string | null; isUnrefunded?: boolean } = {},
): Promise<readonly ListedPayment[]> {
  const rows = await app
    .selectFrom('app.payments')
    .select([...columns, 'proof', 'owed_at', 'claimed_at'])
    .$if(before !== null, (query) => query.where('id', '<', before ?? ''))
    .$if(isUnrefunded, (query) => query.where('owed_at', 'is not', null).where(hasNoRefund))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => {
    const isReversed = row.proof === 'reversed'
    const isOwed = row.owed_at !== null && !isReversed
    return { ...paymentOf(row), isReversed, isOwed, claimedAt: row.claimed_at }
  })
}

const hasNoRefund = sql<boolean>`proof IS DISTINCT FROM 'reversed' AND NOT EXISTS (
  SELECT FROM app.payouts o
  WHERE o.kind = 'refund' AND o.reference = app.payments.id AND o.state <> 'withdrawn')`

const ofHolder = (app: AppDatabase, { id, attempt }: HeldPayment) =>
  app.updateTable('app.payments').where('id', '=', id).where('attempt', '=', attempt)

/** As `paymentOf` reads them. */
export const columns = [
  'id',
  'identity',
  'request_digest',
  'credential_digest',
  'scope',
  'method',
  'chain_id',
  'currency',
  'amount',
  'recipient',
  'payer',
  'tx_hash',
  'valid_before',
  'reference',
  'state',
  'receipt',
  'attempt',
  sql<boolean>`held_until > clock_timestamp()`.as('is_held'),
  'settled_at',
  'answered_at',
] as const

interface PaymentRow {
  readonly id: string
  readonly identity: string
  readonly request_digest: Buffer
  readonly credential_digest: Buffer
  readonly scope: string
  readonly method: string
  readonly chain_id: number
  readonly currency: Buffer
  readonly amount: string
  readonly recipient: Buffer
  readonly payer: Buffer
  readonly tx_hash: Buffer | null
  readonly valid_before: Date
  readonly reference: string | null
  readonly state: string
  readonly receipt: string | null
  readonly attempt: number
  readonly is_held: boolean
  readonly settled_at: Date | null
  readonly answered_at: Date | null
}

export const paymentOf = (row: PaymentRow): Payment => ({
  id: row.id,
  identity: row.identity,
  requestDigest: row.request_digest,
  credentialDigest: row.credential_digest,
  scope: row.scope,
  method: row.method,
  chainId: row.chain_id,
  currency: toHex(row.currency),
  amount: BigInt(row.amount),
  recipient: toHex(row.recipient),
  payer: toHex(row.payer),
  txHash: row.tx_hash && toHex(row.tx_hash),
  validBeforeSeconds: Math.floor(row.valid_before.getTime() / 1_000),
  reference: row.reference,
  state: wordOf(states, row.state, 'a payment'),
  receipt: row.receipt,
  attempt: row.attempt,
  isHeld: row.is_held,
  isAnswered: row.answered_at !== null,
  settledAt: row.settled_at,
})

const states: readonly PaymentState[] = ['claimed', 'sending', 'settled', 'failed']

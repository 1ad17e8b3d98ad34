/**
 * Reservations: the worst case of a job is written down under a lock on the wallet's one row before
 * the job is sold, and that of a spend before anything is signed, so that no limit is passed however
 * many processes sell and pay.
 */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow } from '../database.ts'
import { history } from '../history.ts'
import { newTimedId } from '../identifiers.ts'
import type { Forgotten } from '../payments/forgotten.ts'
import { pause, RESTORED } from '../payments/pauses.ts'
import {
  findReservedDay,
  insertReservation,
  type JobReservation,
  readReserved,
  takeReserved,
  UNPROVED_PAYERS,
} from './reservations.ts'
import type { SpendTerms } from './spends.ts'
import { type DaySum, moveBudget, readDaySums } from './walletDays.ts'

/** In the smallest unit of quotes, fees included. */
export interface WalletLimits {
  readonly jobUnits: bigint
  /** Per day, UTC. */
  readonly dayUnits: bigint
  readonly serviceUnits: bigint
  readonly payeeUnits: bigint
  /** For jobs of one payer. */
  readonly payerUnits: bigint
}

export type LimitName = 'job' | 'day' | 'service' | 'payee' | 'payer'

export type Reservation =
  | { readonly kind: 'reserved'; readonly id: string }
  /** The node has a spend already. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'paused' }
  /** The end of the job was asked for, or its payment was taken back. */
  | { readonly kind: 'cancelled' }
  /** The database is of another history: what it does not know of may be under way. */
  | { readonly kind: 'frozen' }
  | { readonly kind: 'limited'; readonly limit: LimitName }

/** Reserves a spend, or writes nothing. */
export async function reserveSpend(
  app: AppDatabase,
  terms: SpendTerms,
  limits: WalletLimits,
  nowMs: number,
): Promise<Reservation> {
  const { jobUnits } = limits
  try {
    return await app.transaction().execute(async (transaction) => {
      const { isPaused, isKnown, day: today } = await lockWallet(transaction)
      if (isPaused) return { kind: 'paused' }
      if (!isKnown) return { kind: 'frozen' }
      const job = await readPayer(transaction, terms.jobId)
      if (job?.isCancelling) return { kind: 'cancelled' }
      const id = newTimedId('spd', nowMs)
      const day = (await findReservedDay(transaction, terms.jobId)) ?? today
      const payer = job?.payer ?? null
      if (!(await insertSpend(transaction, { id, day, payer }, terms))) return { kind: 'taken' }
      if ((await sumOfJob(transaction, terms.jobId)) > jobUnits) throw new LimitReached('job')
      const { serviceId, recipient: payee, units } = terms
      const covered = await takeReserved(transaction, terms, units)
      const sums = await moveBudget(transaction, { day, serviceId, payee, payer }, units)
      // The job's reservation was within the limits when it was sold.
      const grown = sums.filter(({ kind }) => (kind === 'payee' ? covered.payeeUnits : covered.units) < units)
      await assertWithin(transaction, day, grown, limits)
      return { kind: 'reserved', id }
    })
  } catch (error) {
    if (error instanceof LimitReached) return { kind: 'limited', limit: error.limit }
    throw error
  }
}

/**
 * A payment that the chain has and the database had forgotten counts as any other, whatever the limits
 * say, and is followed as one that was sent. False where its node or the payment itself has a spend.
 */
export async function adoptSpend(
  app: AppDatabase,
  terms: SpendTerms,
  paid: Forgotten,
  nowMs: number,
): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    const { day: today } = await lockWallet(transaction)
    const { protocol, units, serviceId, recipient: payee } = terms
    const reference = toBytes(protocol === 'mpp' ? paid.txHash : paid.memo)
    if (await hasSpend(transaction, protocol, reference)) return false
    const id = newTimedId('spd', nowMs)
    const day = (await findReservedDay(transaction, terms.jobId)) ?? today
    const payer = (await readPayer(transaction, terms.jobId))?.payer ?? null
    if (!(await insertSpend(transaction, { id, day, payer }, terms))) return false
    await transaction
      .updateTable('app.spends')
      .set({
        ...{ state: 'sending', reference, tx_hash: toBytes(paid.txHash), from_block: paid.blockNumber },
        ...{ valid_before: new Date(paid.validBeforeSeconds * 1_000), sent_at: databaseNow },
      })
      .where('id', '=', id)
      .execute()
    await takeReserved(transaction, terms, units)
    await moveBudget(transaction, { day, serviceId, payee, payer }, units)
    return true
  })
}

async function hasSpend(
  transaction: AppDatabase,
  protocol: SpendTerms['protocol'],
  reference: Uint8Array,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('app.spends')
    .select('id')
    .where('protocol', '=', protocol)
    .where('reference', '=', Buffer.from(reference))
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Reserves what a job may spend, in the transaction that claims its payment. Unless it is reserved
 * the transaction is to be given up.
 */
export async function reserveJob(
  transaction: AppDatabase,
  reservation: JobReservation,
  limits: WalletLimits,
): Promise<JobReserved> {
  const { isPaused, isKnown, day } = await lockWallet(transaction)
  if (isPaused) return { kind: 'paused' }
  if (!isKnown) return { kind: 'frozen' }
  await insertReservation(transaction, reservation, day)
  const sums = await readDaySums(transaction, day, placesOf(reservation))
  try {
    await assertWithin(transaction, day, sums, limits)
    return { kind: 'reserved' }
  } catch (error) {
    if (error instanceof LimitReached) return { kind: 'limited', limit: error.limit }
    throw error
  }
}

export type JobReserved =
  | { readonly kind: 'reserved' | 'paused' | 'frozen' }
  | { readonly kind: 'limited'; readonly limit: LimitName }

function placesOf({ payer, parts }: JobReservation): readonly Pick<DaySum, 'kind' | 'subject'>[] {
  const services = new Set(parts.map(({ serviceId }) => serviceId))
  const payees = new Set(parts.flatMap(({ payee }) => payee ?? []))
  return [
    { kind: 'all', subject: '' },
    { kind: 'payer', subject: payer ?? UNPROVED_PAYERS },
    ...[...services].map((subject) => ({ kind: 'service' as const, subject })),
    ...[...payees].map((subject) => ({ kind: 'payee' as const, subject })),
  ]
}

/** @throws LimitReached */
async function assertWithin(
  transaction: AppDatabase,
  day: string,
  sums: readonly DaySum[],
  limits: WalletLimits,
): Promise<void> {
  if (sums.length === 0) return
  const reservedFor = await readReserved(transaction, day)
  const passed = sums.find((sum) => sum.units + reservedFor(sum) > limitOf(sum, limits))
  if (passed) throw new LimitReached(passed.kind === 'all' ? 'day' : passed.kind)
}

/** Undoes the transaction. */
class LimitReached extends Error {
  readonly limit: LimitName

  constructor(limit: LimitName) {
    super(`the limit per ${limit} is reached`)
    this.limit = limit
  }
}

/** The limit that the sum of a day stays below. */
export const limitOf = ({ kind }: Pick<DaySum, 'kind'>, limits: WalletLimits): bigint =>
  ({
    all: limits.dayUnits,
    service: limits.serviceUnits,
    payee: limits.payeeUnits,
    payer: limits.payerUnits,
  })[kind]

/** The data of a spend besides its terms. */
interface Reserved {
  readonly id: string
  readonly day: string
  /** The address that paid for its job. */
  readonly payer: string | null
}

async function insertSpend(
  transaction: AppDatabase,
  { id, day, payer }: Reserved,
  { jobId, nodeId, attempt, serviceId, protocol, chainId, amount, units, ...terms }: SpendTerms,
): Promise<boolean> {
  const row = await transaction
    .insertInto('app.spends')
    .values({
      ...{ id, attempt, protocol, amount, units, day },
      ...{ job_id: jobId, node_id: nodeId, service_id: serviceId, chain_id: chainId },
      stated_fee_units: terms.statedFeeUnits,
      currency: toBytes(terms.currency),
      recipient: toBytes(terms.recipient),
      payer: toBytes(terms.payer),
      job_payer: payer === null ? null : toBytes(payer),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

async function sumOfJob(transaction: AppDatabase, jobId: string): Promise<bigint> {
  const { units } = await transaction
    .selectFrom('app.spends')
    .select(sql<string>`coalesce(sum(units), 0)`.as('units'))
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow()
  return BigInt(units)
}

/** Undefined for a spend of no job. */
async function readPayer(transaction: AppDatabase, jobId: string) {
  const row = await transaction
    .selectFrom('app.jobs')
    .select('payer')
    .select(sql<boolean>`cancel_requested_at IS NOT NULL`.as('isCancelling'))
    .where('id', '=', jobId)
    .executeTakeFirst()
  return row && { payer: toHex(row.payer), isCancelling: row.isCancelling }
}

const today = sql<string>`to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')`

const dayLeftMs = sql<number>`(extract(epoch FROM
  date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day' - clock_timestamp()) * 1000)::float8`

const walletColumns = [
  sql<boolean>`EXISTS (SELECT FROM app.pauses WHERE name = 'wallet')`.as('isPaused'),
  sql<boolean>`history = ${history}`.as('isKnown'),
  today.as('day'),
] as const

const lockWallet = (transaction: AppDatabase) =>
  transaction.selectFrom('app.wallet').select(walletColumns).forUpdate().executeTakeFirstOrThrow()

export interface WalletState {
  readonly isPaused: boolean
  /** The database is of the history whose spends are known. */
  readonly isKnown: boolean
  /** UTC, as 2026-11-26. */
  readonly day: string
  /** Milliseconds until the next day begins. */
  readonly dayLeftMs: number
}

export async function readWallet(app: AppDatabase): Promise<WalletState> {
  return app
    .selectFrom('app.wallet')
    .select([...walletColumns, dayLeftMs.as('dayLeftMs')])
    .executeTakeFirstOrThrow()
}

/**
 * Accepts the database's history once no spend is open, and, where another one was known, no
 * credential that it may have lost can be spent. True once it is known. Of another one the wallet is
 * paused too: the operator alone knows whether what it lost is bought again.
 * @param validMs the longest that a credential can be spent
 */
export async function adoptHistory(app: AppDatabase, validMs: number): Promise<boolean> {
  return app.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('app.wallet')
      .select([
        sql<boolean>`history = ${history}`.as('isKnown'),
        sql<boolean>`history = ''`.as('isFirst'),
        sql<boolean>`coalesce(next_history = ${history}, false)`.as('isFrozen'),
        sql<boolean>`coalesce(next_history = ${history} AND frozen_until <= clock_timestamp(), false)`.as(
          'isOver',
        ),
        sql<boolean>`EXISTS (SELECT FROM app.spends WHERE state IN ('reserved', 'sending'))`.as('isOpen'),
      ])
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (row.isKnown) return true
    const mayAdopt = row.isFirst || (row.isOver && !row.isOpen)
    if (!row.isFirst && !row.isFrozen) await pause(transaction, 'wallet', RESTORED, 'restore')
    const adopted = { history, next_history: null, frozen_until: null }
    const frozen = { next_history: history, frozen_until: fromNow(validMs) }
    if (mayAdopt || !row.isFrozen)
      await transaction
        .updateTable('app.wallet')
        .set(mayAdopt ? adopted : frozen)
        .execute()
    return mayAdopt
  })
}

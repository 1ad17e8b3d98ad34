/**
 * The amounts that jobs that were sold may still spend. A spend takes from the reservation of its job, and
 * gives back what it did not cost, so that no unit counts twice and a job that was sold can be bought.
 */
import { sql } from 'kysely'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { MAKES_JOB } from './orders.ts'
import type { DaySum } from './walletDays.ts'

export interface ReservedPart {
  readonly serviceId: string
  /** Lowercase address; null where it is not known. */
  readonly payee: string | null
  /** In the smallest unit of quotes, fees included. */
  readonly units: bigint
}

export interface JobReservation {
  readonly jobId: string
  /** The payment of the job: without it nothing is reserved. */
  readonly paymentId: string
  /**
   * Lowercase address; null where the payment proves no payer before it settles. All such jobs share
   * what one payer has: they cost nothing to make up.
   */
  readonly payer: string | null
  readonly parts: readonly ReservedPart[]
}

const UNKNOWN = new Uint8Array()
/** Subject of sums for all payers that nothing proves yet. */
export const UNPROVED_PAYERS = toHex(UNKNOWN)

/** One row for each service and payee. */
export async function insertReservation(
  transaction: AppDatabase,
  { jobId, paymentId, payer, parts }: JobReservation,
  day: string,
): Promise<void> {
  const places = Map.groupBy(parts, ({ serviceId, payee }) => `${payee ?? ''} ${serviceId}`)
  const rows = [...places.values()].flatMap((of) =>
    of.slice(0, 1).map(({ serviceId, payee }) => ({
      ...{ job_id: jobId, payment_id: paymentId, service_id: serviceId, day },
      ...{ payer: addressOr(payer), payee: addressOr(payee) },
      units: of.reduce((sum, { units }) => sum + units, 0n),
    })),
  )
  if (rows.length > 0) await transaction.insertInto('app.job_reservations').values(rows).execute()
}

const addressOr = (address: string | null) => (address === null ? UNKNOWN : toBytes(address))

/** The payment has settled, which proves its payer. */
export async function assignReservation(
  transaction: AppDatabase,
  jobId: string,
  payer: string,
): Promise<void> {
  await transaction
    .updateTable('app.job_reservations')
    .set({ payer: toBytes(payer) })
    .where('job_id', '=', jobId)
    .execute()
}

/** The day that spends of a job count on; null where it has reserved nothing. */
export async function findReservedDay(transaction: AppDatabase, jobId: string): Promise<string | null> {
  const row = await transaction
    .selectFrom('app.job_reservations')
    .select('day')
    .where('job_id', '=', jobId)
    .limit(1)
    .executeTakeFirst()
  return row?.day ?? null
}

interface Place {
  readonly jobId: string
  readonly serviceId: string
  /** Lowercase address. */
  readonly recipient: `0x${string}`
}

/** Units of a spend that its job had reserved: these, and those of them for its very payee. */
export interface Covered {
  readonly units: bigint
  readonly payeeUnits: bigint
}

/** Takes as much of a spend as the job has reserved for its service: first what is for its payee. */
export async function takeReserved(transaction: AppDatabase, place: Place, units: bigint): Promise<Covered> {
  const rows = await rowsOf(transaction, place).forUpdate().execute()
  let [left, payeeUnits] = [units, 0n]
  for (const { payee, units: reserved } of rows) {
    const taken = BigInt(reserved) < left ? BigInt(reserved) : left
    if (taken === 0n) continue
    left -= taken
    if (isOf(place, payee)) payeeUnits = taken
    await addTo(transaction, place, payee, -taken)
  }
  return { units: units - left, payeeUnits }
}

/** Gives units of a spend back to its job; to nobody where the job has ended. */
export async function giveBack(transaction: AppDatabase, place: Place, units: bigint): Promise<void> {
  const [row] = await rowsOf(transaction, place).limit(1).execute()
  if (row) await addTo(transaction, place, row.payee, units)
}

/** The job has ended, and spends no more. */
export async function removeReservation(transaction: AppDatabase, jobId: string): Promise<void> {
  await transaction.deleteFrom('app.job_reservations').where('job_id', '=', jobId).execute()
}

/** The amount that jobs may still spend on a day, as the sums of the day count it. */
export async function readReserved(
  app: AppDatabase,
  day: string,
): Promise<(of: Pick<DaySum, 'kind' | 'subject'>) => bigint> {
  const rows = await held(app)
    .select(['r.service_id', 'r.payee', 'r.payer', sql<string>`sum(r.units)`.as('units')])
    .where('r.day', '=', day)
    .groupBy(['r.service_id', 'r.payee', 'r.payer'])
    .execute()
  const places = rows.map(({ service_id: service, payee, payer, units }) => ({
    ...{ all: '', service, payee: toHex(payee), payer: toHex(payer) },
    units: BigInt(units),
  }))
  return ({ kind, subject }) =>
    places.reduce((sum, place) => (place[kind] === subject ? sum + place.units : sum), 0n)
}

/** The amount that all jobs may still spend, whenever they were sold. */
export async function sumReserved(app: AppDatabase): Promise<bigint> {
  const { units } = await held(app)
    .select(sql<string>`coalesce(sum(r.units), 0)`.as('units'))
    .executeTakeFirstOrThrow()
  return BigInt(units)
}

/** A payment that makes no job holds nothing. */
const held = (app: AppDatabase) =>
  app
    .selectFrom('app.job_reservations as r')
    .innerJoin('app.payments as p', 'p.id', 'r.payment_id')
    .where(MAKES_JOB)

/** That of the payee first. */
const rowsOf = (transaction: AppDatabase, { jobId, serviceId, recipient }: Place) =>
  transaction
    .selectFrom('app.job_reservations')
    .select(['payee', 'units'])
    .where('job_id', '=', jobId)
    .where('service_id', '=', serviceId)
    .orderBy(sql`payee = ${toBytes(recipient)}`, 'desc')
    .orderBy('payee')

const isOf = ({ recipient }: Place, payee: Buffer): boolean => toHex(payee) === recipient

const addTo = (transaction: AppDatabase, { jobId, serviceId }: Place, payee: Buffer, units: bigint) =>
  transaction
    .updateTable('app.job_reservations')
    .set((row) => ({ units: sql<string>`${row.ref('units')} + ${units}` }))
    .where('job_id', '=', jobId)
    .where('service_id', '=', serviceId)
    .where('payee', '=', payee)
    .execute()

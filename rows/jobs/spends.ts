/**
 * Money that leaves for calls of sellers. A row holds its credential before anything is sent, and
 * changes its state by comparison: whoever comes second, in whatever process, changes nothing.
 */
import { sql } from 'kysely'
import { type Fee, noFee } from '#money/fees.ts'
import { PostgresError } from '#store/postgres.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { type AppDatabase, databaseNow, fromNow, removeOlder } from '../database.ts'
import { wordOf } from '../schema/words.ts'
import { addFee } from './books.ts'
import { giveBack } from './reservations.ts'
import { lockJobOf, takeBackCost, takeBackFee } from './voided.ts'
import { moveBudget } from './walletDays.ts'

export type SpendState = 'reserved' | 'sending' | 'settled' | 'void'
export type SpendProtocol = 'mpp' | 'x402'

/** The terms of a spend, from its reservation on. */
export interface SpendTerms {
  readonly jobId: string
  readonly nodeId: string
  readonly attempt: number
  readonly serviceId: string
  readonly protocol: SpendProtocol
  readonly chainId: number
  /** Lowercase address of the token. */
  readonly currency: `0x${string}`
  /** In the token's smallest unit. */
  readonly amount: bigint
  readonly recipient: `0x${string}`
  readonly payer: `0x${string}`
  /** The amount that limits count: in the smallest unit of quotes, the highest fee included. */
  readonly units: bigint
  /** The chain's stated fee, in the smallest unit of quotes: it counts until the fee is known. */
  readonly statedFeeUnits: bigint
}

/** The chain's fee for a spend. */
export interface SpentFee extends Fee {
  /** In the smallest unit of quotes. */
  readonly units: bigint
}

/** The facts of a spend once its credential is made. */
export interface Sealed {
  /** The credential as it is sent, sealed. */
  readonly credential: Uint8Array
  /** The chain's name of it. */
  readonly reference: `0x${string}`
  /** Null where somebody else completes the transaction. */
  readonly txHash: `0x${string}` | null
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
  readonly fromBlock: number
}

export interface Spend extends Omit<SpendTerms, 'statedFeeUnits'>, Omit<Sealed, 'credential' | 'reference'> {
  readonly id: string
  readonly state: SpendState
  /** UTC, as 2026-11-26. */
  readonly day: string
  /** Null before it is made, and once it is needed no more. */
  readonly credential: Buffer | null
  readonly reference: `0x${string}` | null
  /** Times it was sent. */
  readonly tries: number
  readonly hasAnswer: boolean
}

export interface KeptAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

const UNIQUE_VIOLATION = '23505'

/** The newest spend of a node. */
export async function findSpend(
  app: AppDatabase,
  { jobId, nodeId }: Pick<SpendTerms, 'jobId' | 'nodeId'>,
): Promise<Spend | null> {
  const row = await spends(app)
    .where('job_id', '=', jobId)
    .where('node_id', '=', nodeId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? spendOf(row) : null
}

/**
 * From now on it may be paid. False where another process was first or gave it up, and where the
 * chain could not tell it from another spend.
 */
export async function keepCredential(app: AppDatabase, id: string, made: Sealed): Promise<boolean> {
  const kept = app
    .updateTable('app.spends')
    .set({
      state: 'sending',
      credential: made.credential,
      reference: toBytes(made.reference),
      tx_hash: made.txHash && toBytes(made.txHash),
      valid_before: new Date(made.validBeforeSeconds * 1_000),
      from_block: made.fromBlock,
    })
    .where('id', '=', id)
    .where('state', '=', 'reserved')
  try {
    const { numUpdatedRows } = await kept.executeTakeFirst()
    return numUpdatedRows === 1n
  } catch (error) {
    if (error instanceof PostgresError && error.sqlState === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** Written before each sending, so that a sweep leaves alone what is under way. */
export async function beginTry(app: AppDatabase, id: string): Promise<void> {
  await app
    .updateTable('app.spends')
    .set((row) => ({ tries: sql<number>`${row.ref('tries')} + 1`, sent_at: databaseNow }))
    .where('id', '=', id)
    .execute()
}

/** The chain has it. @param units what it was, without the fee */
export async function settleSpend(
  app: AppDatabase,
  id: string,
  given: { readonly txHash: `0x${string}`; readonly units: bigint; readonly fee: SpentFee },
): Promise<boolean> {
  return end(app, id, { state: 'settled', ...given })
}

const nothing: SpentFee = { ...noFee, units: 0n }

/** It surely was not paid. @param fee what it cost all the same: that of what was reverted */
export async function voidSpend(
  app: AppDatabase,
  id: string,
  { from, fee = nothing }: { readonly from: 'reserved' | 'sending'; readonly fee?: SpentFee },
): Promise<boolean> {
  return end(app, id, { state: 'void', units: 0n, fee }, from)
}

interface End {
  readonly state: 'settled' | 'void'
  readonly txHash?: `0x${string}`
  readonly units: bigint
  readonly fee: SpentFee
}

/** Totals of the day, the books, the job's reservation and what its end counted too much follow at once. */
async function end(
  app: AppDatabase,
  id: string,
  { state, txHash, fee, ...paid }: End,
  from: 'reserved' | 'sending' = 'sending',
): Promise<boolean> {
  const units = paid.units + fee.units
  return app.transaction().execute(async (transaction) => {
    const job = from === 'sending' ? await lockJobOf(transaction, id) : null
    const before = await transaction
      .selectFrom('app.spends')
      .select(['job_id', 'node_id', 'attempt', 'chain_id', 'units', 'stated_fee_units'])
      .select(['day', 'service_id', 'recipient', 'job_payer'])
      .where('id', '=', id)
      .where('state', '=', from)
      .forUpdate()
      .executeTakeFirst()
    if (!before) return false
    await transaction
      .updateTable('app.spends')
      .set({
        ...{ state, units, ended_at: databaseNow },
        ...{
          fee: fee.fee,
          fee_currency: fee.fee > 0n ? toBytes(fee.feeCurrency) : null,
          fee_units: fee.units,
        },
        ...(txHash && { tx_hash: toBytes(txHash) }),
        ...(state === 'void' && { credential: null }),
      })
      .where('id', '=', id)
      .execute()
    if (fee.fee > 0n) await addFee(transaction, id, before.chain_id, fee)
    const { day, job_id: jobId, node_id: nodeId, attempt, service_id: serviceId, job_payer: payer } = before
    const recipient = toHex(before.recipient)
    const unspent = BigInt(before.units) - units
    if (unspent > 0n) await giveBack(transaction, { jobId, serviceId, recipient }, unspent)
    const place = { day, serviceId, payee: recipient, payer: payer && toHex(payer) }
    await moveBudget(transaction, place, -unspent)
    const counted = { id, jobId, nodeId, attempt, statedFeeUnits: BigInt(before.stated_fee_units) }
    if (job && state === 'void') await takeBackCost(transaction, job, counted)
    if (job && state === 'settled') await takeBackFee(transaction, job, counted, fee.units)
    return true
  })
}

/** Keeps an answer for its job; what was sent for it is needed no more. */
export async function keepAnswer(app: AppDatabase, id: string, answer: KeptAnswer): Promise<void> {
  await app.transaction().execute(async (transaction) => {
    const { status, contentType: content_type, body } = answer
    await transaction
      .insertInto('app.spend_answers')
      .values({ spend_id: id, status, content_type, body })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await transaction.updateTable('app.spends').set({ credential: null }).where('id', '=', id).execute()
  })
}

export async function readAnswer(app: AppDatabase, id: string): Promise<KeptAnswer | null> {
  const row = await app
    .selectFrom('app.spend_answers')
    .select(['status', 'content_type', 'body'])
    .where('spend_id', '=', id)
    .executeTakeFirst()
  return row ? { status: row.status, contentType: row.content_type, body: row.body } : null
}

/** Spends that nobody works on, the oldest first. @param unsignedMs since a reservation */
export async function listOpenSpends(
  app: AppDatabase,
  ages: { readonly idleMs: number; readonly unsignedMs: number; readonly limit: number },
): Promise<readonly Spend[]> {
  const { idleMs, unsignedMs, limit } = ages
  const rows = await spends(app)
    .where((is) =>
      is.or([
        is.and([is('state', '=', 'sending'), is('sent_at', '<', fromNow(-idleMs))]),
        is.and([
          is('state', 'in', ['reserved', 'sending']),
          is('sent_at', 'is', null),
          is('reserved_at', '<', fromNow(-unsignedMs)),
        ]),
      ]),
    )
    .orderBy('reserved_at')
    .limit(limit)
    .execute()
  return rows.map(spendOf)
}

/** A job's spends, paid or not known yet. */
export async function readSpendsOf(app: AppDatabase, jobId: string): Promise<readonly Spend[]> {
  const rows = await spends(app)
    .where('job_id', '=', jobId)
    .where('state', '<>', 'void')
    .orderBy('id')
    .execute()
  return rows.map(spendOf)
}

export interface OpenSpends {
  readonly chainId: number
  readonly count: number
  /** Units that are reserved for them. */
  readonly units: bigint
  /** Since the oldest was reserved. */
  readonly oldestMs: number
}

/** The sums that may leave still, by chain. */
export async function sumOpenSpends(app: AppDatabase): Promise<readonly OpenSpends[]> {
  const rows = await app
    .selectFrom('app.spends')
    .select([
      'chain_id',
      sql<number>`count(*)::int`.as('count'),
      sql<string>`sum(units)`.as('units'),
      sql<number>`(extract(epoch FROM clock_timestamp() - min(reserved_at)) * 1000)::float8`.as('oldest_ms'),
    ])
    .where('state', 'in', ['reserved', 'sending'])
    .groupBy('chain_id')
    .execute()
  return rows.map(({ chain_id: chainId, count, units, oldest_ms: oldestMs }) => ({
    ...{ chainId, count, units: BigInt(units), oldestMs },
  }))
}

/** Answers are kept so long, and credentials of what was paid and not delivered. */
const KEPT_MS = 24 * 3_600_000

export async function removeSpent(app: AppDatabase): Promise<void> {
  while (await removeOlder(app, 'app.spend_answers', 'kept_at', fromNow(-KEPT_MS)));
  await app
    .updateTable('app.spends')
    .set({ credential: null })
    .where('credential', 'is not', null)
    .where('state', 'in', ['settled', 'void'])
    .where('reserved_at', '<', fromNow(-KEPT_MS))
    .execute()
}

const spends = (app: AppDatabase) =>
  app
    .selectFrom('app.spends')
    .selectAll()
    .select(
      sql<boolean>`exists (SELECT FROM app.spend_answers WHERE spend_id = app.spends.id)`.as('has_answer'),
    )

type SpendRow = Awaited<ReturnType<ReturnType<typeof spends>['executeTakeFirstOrThrow']>>

const spendOf = (row: SpendRow): Spend => ({
  id: row.id,
  jobId: row.job_id,
  nodeId: row.node_id,
  attempt: row.attempt,
  serviceId: row.service_id,
  state: wordOf(states, row.state, 'a spend'),
  protocol: wordOf(protocols, row.protocol, 'a spend'),
  chainId: row.chain_id,
  currency: toHex(row.currency),
  amount: BigInt(row.amount),
  recipient: toHex(row.recipient),
  payer: toHex(row.payer),
  units: BigInt(row.units),
  day: row.day,
  credential: row.credential,
  reference: row.reference && toHex(row.reference),
  txHash: row.tx_hash && toHex(row.tx_hash),
  validBeforeSeconds: Math.floor((row.valid_before?.getTime() ?? 0) / 1_000),
  fromBlock: row.from_block ?? 0,
  tries: row.tries,
  hasAnswer: row.has_answer,
})

const states: readonly SpendState[] = ['reserved', 'sending', 'settled', 'void']
const protocols: readonly SpendProtocol[] = ['mpp', 'x402']

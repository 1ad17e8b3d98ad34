/**
 * Small debts wait for others to the same account, and are paid by one transfer: that of the last,
 * which the others name. It stays so, whatever becomes of its transactions. A refund goes alone after
 * a day; a reward waits until a refund takes it along, or rewards bring together what their transfer costs.
 */
import { type RawBuilder, sql } from 'kysely'
import { advisoryLocks } from '#store/locks.ts'
import { toBytes } from '#store/sql.ts'
import { type AppDatabase, databaseNow } from '../database.ts'
import { isSurelyUnpaid } from './forgotten.ts'
import { type HeldPayout, payoutKindOf } from './payouts.ts'

/** A refund waits so long for others. */
const REFUND_HOURS = 24
/** A reward is looked at again after as long as it has waited, within these: one dear block is soon past. */
const REWARD_SECONDS = { least: 5, most: 3_600 } as const

/** When a transfer goes at once, in the currency's smallest unit. */
export interface Worth {
  /** Its refunds come to this; 0 where none waits. */
  readonly refunds: bigint
  /** The sum of its rewards' parts of its fee that sends it: the fee at the price of now. */
  readonly fee: bigint
}

/** The amounts of one transfer, in the currency's smallest unit. */
export interface Collected {
  readonly total: bigint
  /** The most that its fee may come to, which its rewards bring along; null where it pays a refund, too. */
  readonly feeMax: bigint | null
}

/**
 * Joins to a debt those that wait for others. What its transfer pays from now on, or null where it
 * waits, or another process has it.
 */
export async function collect(app: AppDatabase, payout: HeldPayout, worth: Worth): Promise<Collected | null> {
  const { id, hold, kind, amount, attempt, feePart } = payout
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.collecting})`.execute(transaction)
    const own = await transaction
      .selectFrom('app.payouts')
      .select(sql<boolean>`kind = 'refund' AND ${refundUntil} <= ${databaseNow}`.as('is_over'))
      .where('id', '=', id)
      .where('hold', '=', hold)
      .where('state', '=', 'queued')
      .where('sent_with', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (!own) return null
    const joined = [{ id, kind, amount, feePart }, ...(await debtsSentWith(transaction, id))]
    // A signed payout goes as it was; a price that rose since does not hold up a refund.
    const isDecided = (attempt > 0 || joined.length > 1) && joined.some((debt) => debt.kind === 'refund')
    const others = attempt > 0 ? [] : await waitingBeside(transaction, payout, isSurelyUnpaid)
    const all = [...joined, ...others]
    const goes = isDecided || own.is_over || isWorth(all, worth)
    if (goes) await join(transaction, id, others)
    else await waitForOthers(transaction, id)
    return goes ? { total: sumOf(all.map((debt) => debt.amount)), feeMax: feeMaxOf(all) } : null
  })
}

/**
 * Joins to a debt those that a forgotten transfer has paid with it: the oldest, of all or of those that
 * wait, if they make up its amount. What the debt's transfer pays now.
 */
export async function collectPaid(app: AppDatabase, payout: HeldPayout, amount: bigint): Promise<bigint> {
  const { id, total, attempt } = payout
  if (attempt > 0 || amount <= total) return total
  return app.transaction().execute(async (transaction) => {
    await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.collecting})`.execute(transaction)
    const waiting = await waitingBeside(transaction, payout)
    const all = await queuedBeside(transaction, payout).execute()
    const paid = firstOf(all.map(debtOf), amount - total) ?? firstOf(waiting, amount - total)
    if (!paid) return total
    await join(transaction, id, paid)
    return amount
  })
}

/** The first of them that come to the amount; null where none do. */
function firstOf(debtsInOrder: readonly Debt[], amount: bigint): readonly Debt[] | null {
  let sum = 0n
  const end = debtsInOrder.findIndex((debt) => {
    sum += debt.amount
    return sum >= amount
  })
  return end >= 0 && sum === amount ? debtsInOrder.slice(0, end + 1) : null
}

const refundUntil = sql<Date>`coalesce(collect_until, queued_at + ${REFUND_HOURS} * interval '1 hour')`

type Debt = Pick<HeldPayout, 'id' | 'kind' | 'amount' | 'feePart'>

/** A refund takes rewards with it at no cost, whatever it is sent for. */
function isWorth(debts: readonly Debt[], { refunds, fee }: Worth): boolean {
  const { refund = [], reward = [] } = Object.groupBy(debts, ({ kind }) => kind)
  const feeMax = feeMaxOf(reward)
  return (
    (refund.length > 0 && sumOf(refund.map(({ amount }) => amount)) >= refunds) ||
    (reward.length > 0 && (feeMax === null || feeMax >= fee))
  )
}

/** Rewards of before they bore fees have no part. */
function feeMaxOf(debts: readonly Debt[]): bigint | null {
  const isPaidFor = debts.some(({ kind, feePart }) => kind === 'refund' || feePart === null)
  return isPaidFor ? null : sumOf(debts.map(({ feePart }) => feePart ?? 0n))
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

async function join(transaction: AppDatabase, id: string, others: readonly Debt[]): Promise<void> {
  if (others.length === 0) return
  const ids = others.map((other) => other.id)
  await transaction
    .updateTable('app.payouts')
    // A process that has one of them writes no more.
    .set((row) => ({ sent_with: id, problem: null, hold: sql<number>`${row.ref('hold')} + 1` }))
    .where('id', 'in', ids)
    .execute()
}

async function debtsSentWith(transaction: AppDatabase, id: string): Promise<readonly Debt[]> {
  const rows = await debts(transaction).where('sent_with', '=', id).execute()
  return rows.map(debtOf)
}

async function waitingBeside(
  transaction: AppDatabase,
  payout: HeldPayout,
  among: RawBuilder<boolean> = sql<boolean>`true`,
): Promise<readonly Debt[]> {
  const rows = await queuedBeside(transaction, payout)
    .where('collect_until', 'is not', null)
    .where(among)
    .execute()
  return rows.map(debtOf)
}

/** Those that nothing was signed for, the oldest first. */
const queuedBeside = (transaction: AppDatabase, { id, chainId, currency, to }: HeldPayout) =>
  debts(transaction)
    .where('state', '=', 'queued')
    .where('attempt', '=', 0)
    .where('sent_with', 'is', null)
    .where('id', '<>', id)
    .where('chain_id', '=', chainId)
    .where('currency', '=', Buffer.from(toBytes(currency)))
    .where('recipient', '=', Buffer.from(toBytes(to)))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('app.payouts as with').select('with.id').whereRef('with.sent_with', '=', 'out.id')),
      ),
    )
    .orderBy('id')
    .limit(COLLECTED_MAX)
    .forUpdate()

const debts = (transaction: AppDatabase) =>
  transaction.selectFrom('app.payouts as out').select(['id', 'kind', 'amount', 'fee_part'])

type DebtRow = Awaited<ReturnType<ReturnType<typeof debts>['executeTakeFirstOrThrow']>>

const debtOf = ({ id, kind, amount, fee_part: feePart }: DebtRow): Debt => ({
  ...{ id, kind: payoutKindOf(kind), amount: BigInt(amount) },
  feePart: feePart === null ? null : BigInt(feePart),
})

/** Debts of one transfer. */
const COLLECTED_MAX = 500

/** Looked at again at the end of its time; another debt to the same account takes it along before. */
async function waitForOthers(transaction: AppDatabase, id: string): Promise<void> {
  const { least, most } = REWARD_SECONDS
  const until = sql<Date>`CASE kind WHEN 'refund' THEN ${refundUntil} ELSE ${databaseNow}
    + least(greatest(${databaseNow} - queued_at, ${least} * interval '1 second'), ${most} * interval '1 second') END`
  await transaction
    .updateTable('app.payouts')
    .set({ collect_until: until, held_until: until, problem: null, failures: 0 })
    .where('id', '=', id)
    .execute()
}

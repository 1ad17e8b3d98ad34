/** Rules that hold when a history is over, by the chain itself, whatever its rows say. */
import { nextMemosOf } from '#money/debtMemo.ts'
import { checkBooks } from '#payments/books/checkBooks.ts'
import type { AppDatabase } from '#rows/database.ts'
import { toHex } from '#store/sql.ts'
import type { SimMarket } from '../jobs/simMarket.ts'
import type { Payer } from './payers.ts'
import { CHAIN_ID, FEE, PAYEE, type SimChain } from './simChain.ts'
import type { Credential } from './simMethod.ts'
import { honestNode } from './simNodes.ts'

export interface Judged {
  readonly app: AppDatabase
  readonly chain: SimChain
  readonly market: SimMarket
  readonly payers: readonly Payer[]
  readonly credentials: ReadonlyMap<string, Credential>
  /** A backup was restored: rows do not know all that was. */
  readonly hasForgotten: boolean
}

type Rows = Awaited<ReturnType<typeof readRows>>
type World = Judged & Rows

export async function judgeWhole(judged: Judged): Promise<readonly string[]> {
  const world = { ...judged, ...(await readRows(judged.app)) }
  const wrong = [
    ...paidOnce(world),
    ...nothingForgotten(world),
    ...jobsArePaidFor(world),
    ...rewardsAreEarned(world),
    ...(world.hasForgotten ? [] : await booksAreRight(world)),
  ]
  return [...new Set(wrong)]
}

async function readRows(app: AppDatabase) {
  const payments = await app
    .selectFrom('app.payments')
    .select(['id', 'identity', 'state', 'proof', 'owed_at', 'amount', 'tx_hash'])
    .execute()
  const payouts = await app
    .selectFrom('app.payouts')
    .select(['kind', 'reference', 'recipient', 'amount', 'state', 'sent_with', 'fee_part'])
    .execute()
  const jobs = await app
    .selectFrom('app.jobs')
    .select(['id', 'payment_id', 'payer', 'charged_amount', 'committed_amount', 'ended_at'])
    .execute()
  return {
    payments: payments.map((row) => ({
      ...row,
      amount: BigInt(row.amount),
      txHash: toHex(row.tx_hash ?? Buffer.of()),
    })),
    payouts: payouts.map(({ fee_part: feePart, ...row }) => ({
      ...{ ...row, amount: BigInt(row.amount), to: toHex(row.recipient), feePart: BigInt(feePart ?? 0) },
    })),
    jobs: jobs.map((row) => ({
      ...{ ...row, payer: toHex(row.payer), charged: BigInt(row.charged_amount ?? 0) },
      committed: row.committed_amount === null ? null : BigInt(row.committed_amount),
    })),
  }
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** Memos that the transactions of a debt may have. */
const memosOf = (debt: { readonly kind: string; readonly reference: string }): ReadonlySet<string> =>
  new Set([0, 4, 8, 12].flatMap((attempt) => nextMemosOf(debt, attempt)))

/** No debt left twice, and what is called paid has left. */
function paidOnce({ chain, payouts, payers, hasForgotten }: World): readonly string[] {
  const left = chain.moved().filter(({ from }) => from === PAYEE)
  const wrong = payouts.flatMap((payout) => {
    const memos = memosOf(payout)
    const times = left.filter(({ memo }) => memo !== null && memos.has(memo)).length
    if (times > 1) return [`a ${payout.kind} left ${times} times`]
    const isCalledPaid = payout.state === 'paid' && payout.sent_with === null
    return isCalledPaid && times === 0 ? [`a ${payout.kind} is called paid and never left`] : []
  })
  if (hasForgotten) return wrong
  for (const { address } of payers) {
    const paid = payouts.filter(({ to, state }) => to === address && state === 'paid')
    const came = left.filter(({ to }) => to === address)
    if (sumOf(paid.map(({ amount }) => amount)) !== sumOf(came.map(({ amount }) => amount)))
      wrong.push('a payer got another amount than the rows say')
  }
  return wrong
}

/** Each unit that a payer paid is used for its job, given back, or owed. */
function nothingForgotten(world: World): readonly string[] {
  const moved = new Set(world.chain.moved().map(({ txHash }) => txHash))
  return [...world.credentials].flatMap(([identity, { transaction }]) => {
    if (!moved.has(transaction.txHash)) return []
    const row = world.payments.find((one) => one.identity === identity)
    if (row) return whatBecameOf(world, row)
    return world.hasForgotten ? [] : ['a payment that the chain has is in no row']
  })
}

function whatBecameOf({ jobs, payouts }: World, row: Rows['payments'][number]): readonly string[] {
  if (row.state !== 'settled') return [`a payment that the chain has is ${row.state}`]
  if (row.proof !== 'confirmed') return [`a payment that the chain has is ${row.proof}`]
  // It is owed as a liability, which an operator queues.
  if (row.owed_at) return []
  const job = jobs.find(({ payment_id: of }) => of === row.id)
  if (!job?.ended_at) return ['a payment has neither a job nor a debt']
  const refunds = payouts.filter(({ kind, reference }) => kind === 'refund' && reference === row.id)
  const given = sumOf(refunds.map(({ amount }) => amount))
  return (job.committed ?? 0n) + given === row.amount ? [] : ['a charge is not costs and refund']
}

function jobsArePaidFor({ jobs, payments, chain, market, hasForgotten }: World): readonly string[] {
  return jobs.flatMap(({ id, payment_id: paymentId, committed }) => {
    if (paymentId === null) return []
    const payment = payments.find((one) => one.id === paymentId)
    if (payment?.state !== 'settled') return ['a job ran that nobody paid for']
    if (!chain.wasMined(payment.txHash)) return ['a job ran whose payment no block ever had']
    if (hasForgotten || payment.proof !== 'confirmed') return []
    return (committed ?? 0n) < market.spentFor(id) ? ['a job cost more than it earned'] : []
  })
}

/** A reward is at most what its own job earned after all fees, and its payer's own review earned it. */
function rewardsAreEarned({ jobs, payouts, payers, market }: World): readonly string[] {
  return jobs.flatMap(({ id, payment_id: paymentId, payer, committed }) => {
    const rewards = payouts.filter(
      ({ kind, reference, state }) => kind === 'reward' && reference === id && state !== 'withdrawn',
    )
    if (rewards.length === 0) return []
    const isOwn = payers.some(({ address, reviewed }) => address === payer && reviewed.has(id))
    if (!isOwn) return ['somebody else’s review was rewarded']
    const isRefunded = payouts.some(({ kind, reference }) => kind === 'refund' && reference === paymentId)
    const earned = (committed ?? 0n) - market.spentFor(id) - (isRefunded ? FEE : 0n)
    const given = sumOf(rewards.map(({ amount, feePart }) => amount + feePart))
    return given > earned ? ['a reward is more than its job earned'] : []
  })
}

/** As the program itself compares its entries, its rows and the chain. */
async function booksAreRight({ app, chain }: World): Promise<readonly string[]> {
  const nodes = [honestNode(chain)]
  const report = await checkBooks(app, { indexed: [], others: [{ chainId: CHAIN_ID, nodes }] })
  const { differences, rows, unbalanced, missent, paidUnknown } = report
  // The wallet is simulated: its spends have no rows.
  const own = rows.filter(({ table }) => table !== 'app.job_attempts')
  const found = [...differences, ...own, ...unbalanced, ...missent, ...paidUnknown]
  return found
    .slice(0, 3)
    .map(
      (one) => `the books differ: ${JSON.stringify(one, (_, of) => (typeof of === 'bigint' ? `${of}` : of))}`,
    )
}

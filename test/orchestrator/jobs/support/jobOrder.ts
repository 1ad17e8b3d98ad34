/** Orders of jobs, as the paid door makes them. */
import { randomUUID } from 'node:crypto'
import { createJob, type JobOrder } from '#orchestrator/job/createJob.ts'
import type { Plan, PlanNode } from '#orchestrator/plan/plan.ts'
import type { AppDatabase } from '#rows/database.ts'
import { addEntries } from '#rows/payments/ledger.ts'
import { token } from './scriptedSellers.ts'

export const payer: `0x${string}` = `0x${'11'.repeat(20)}`

/** A node that calls the path of its own name. */
export const node = (id: string, more: Partial<PlanNode> = {}): PlanNode => ({
  ...{ id, serviceId: 'shop', method: 'POST', path: `/${id}`, input: {}, dependsOn: [] },
  ...more,
})

export const MULTIPLIER = '1.05'

/** @param prices units by node; 1,000 where none is given */
export function orderOf(plan: Plan, prices: Readonly<Record<string, number>> = {}): JobOrder {
  const unitsOf = ({ id }: PlanNode) => BigInt(prices[id] ?? 1_000)
  const net = plan.nodes.reduce((sum, each) => sum + unitsOf(each), 0n)
  const total = (net * 105n + 99n) / 100n
  const paymentId = `pay_${randomUUID()}`
  return {
    jobId: randomUUID(),
    payer,
    idempotencyKey: randomUUID(),
    plan,
    quote: {
      currency: 'USDC',
      decimals: 6,
      costMultiplier: MULTIPLIER,
      totalAmountUnits: `${total}`,
      nodes: plan.nodes.map((each) => ({
        ...{ nodeId: each.id, amount: '0', currency: 'USDC', decimals: 6, input: 'plan', source: 'live' },
        amountUnits: `${unitsOf(each)}`,
      })),
    },
    charge:
      total === 0n
        ? null
        : { paymentId, method: 'charge', chainId: 1337, token, tokenDecimals: 6, amount: total },
    nowMs: Date.now(),
  }
}

/** Makes the job with the books of its payment, as one transaction. */
export async function place(app: AppDatabase, order: JobOrder): Promise<string> {
  return app.transaction().execute(async (transaction) => {
    if (order.charge) {
      const { paymentId, chainId, amount } = order.charge
      await addEntries(transaction, paymentId, [
        { account: `payer:${order.payer}`, chainId, currency: token, amount: -amount },
        { account: 'revenue:jobs', chainId, currency: token, amount },
      ])
    }
    return (await createJob(transaction, order)).jobId
  })
}

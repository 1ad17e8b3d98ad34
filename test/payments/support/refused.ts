/** Counts of refused payments, and of the questions to a node meanwhile. */
import { custom, http, type Transport } from 'viem'
import { Quotas } from '#api/access/Quotas.ts'
import { type Access, anonymous, openAccess } from '#http/request/access.ts'
import { RefusedPayments } from '#payments/RefusedPayments.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'

const { clock } = systemRuntime()

export const refusedPayments = (app: AppDatabase) =>
  new RefusedPayments(new Quotas(quotaRows(app), clock), clock)

/** Refusals of a caller that are counted. */
export async function countedOf(app: AppDatabase, caller: string): Promise<number> {
  const windows = app.selectFrom('app.quota_windows').where('subject', '=', `unpaid:${caller}`)
  return (await windows.select('used').execute()).reduce((sum, { used }) => sum + used, 0)
}

/** Everybody may, and says in a header who asks. */
export const openToCallers: Access = {
  ...openAccess,
  identify: ({ headers: { 'x-caller': id } }) =>
    id === undefined ? anonymous : { ...anonymous, kind: 'key', id: id.toString() },
}

export interface CountingNode {
  /** Questions so far. */
  calls: number
  readonly transport: Transport
}

export function countingNode(rpcUrl: string): CountingNode {
  const { request } = http(rpcUrl)({ retryCount: 0 })
  const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = request
  const counting = (asked: { method: string; params?: unknown }) => {
    node.calls++
    return ask(asked)
  }
  const node = { calls: 0, transport: custom({ request: counting }, { retryCount: 0 }) }
  return node
}

/** The work, once all of it falls into one minute of the quotas. */
export async function withinAMinute<Told>(work: () => Promise<Told>): Promise<Told> {
  const minute = () => Math.floor(clock.now() / 60_000)
  for (;;) {
    const begun = minute()
    const told = await work()
    if (minute() === begun) return told
  }
}

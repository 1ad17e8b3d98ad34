/**
 * Transfers that left payees and wallets in final blocks and that no row names: the operator's own, or
 * those sent after the backup that the database was restored from.
 */
import { nextMemosOf } from '#money/debtMemo.ts'
import { feeManager } from '#money/outflows.ts'
import { knownAmong, listSenders, listUnpaid, type Sender } from '#rows/books/senders.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type Moved, readMoved, type TransferPlace } from '#store/read/payments/settlements.ts'
import type { AuditedChain } from './audit.ts'

/** Transfers of one account and token that no row names. */
export interface LeftLine {
  readonly chainId: number
  readonly account: string
  readonly currency: string
  readonly count: number
  readonly amount: bigint
  readonly first: readonly Moved[]
}

/** A payout that the chain has paid, and its row is still owed. */
export interface PaidUnknown {
  readonly id: string
  readonly txHash: string
}

const PAGE = 1_000
/** Transfers that are shown of an account. */
const SHOWN = 100
/** Unpaid payouts that are looked for. */
const UNPAID_MAX = 10_000

/** Reads all that left, a page at a time; fees are left out. */
export async function auditLeft(
  app: AppDatabase,
  chain: AuditedChain,
): Promise<{ readonly left: readonly LeftLine[]; readonly paidUnknown: readonly PaidUnknown[] }> {
  const memos = await memosOfUnpaid(app, chain.chainId)
  const left: LeftLine[] = []
  const paidUnknown: PaidUnknown[] = []
  for (const sender of await listSenders(app, chain.chainId)) {
    let [count, amount] = [0, 0n]
    const first: Moved[] = []
    for await (const moved of unknownOf(app, chain, sender)) {
      const id = memos.get(moved.memo ?? '')
      if (id !== undefined) paidUnknown.push({ id, txHash: moved.txHash })
      count++
      amount += moved.amount
      if (first.length < SHOWN) first.push(moved)
    }
    const { account, token: currency } = sender
    if (count > 0) left.push({ chainId: chain.chainId, account, currency, count, amount, first })
  }
  return { left, paidUnknown }
}

async function* unknownOf(
  app: AppDatabase,
  { chainId, schema, reads }: AuditedChain,
  sender: Sender,
): AsyncGenerator<Moved> {
  const side = { side: 'from', ...sender } as const
  for (let place: TransferPlace | null = { block: -1, log: -1 }; place; ) {
    const page = await readMoved(reads, schema, side, place, PAGE)
    const known = await knownAmong(
      app,
      chainId,
      page.moved.map(({ txHash }) => txHash),
    )
    for (const moved of page.moved) if (moved.to !== feeManager && !known.has(moved.txHash)) yield moved
    place = page.next
  }
}

/** Ids by the memos that their next transactions have. */
async function memosOfUnpaid(app: AppDatabase, chainId: number): Promise<ReadonlyMap<string, string>> {
  const unpaid = await listUnpaid(app, chainId, UNPAID_MAX)
  return new Map(
    unpaid.flatMap((payout) => nextMemosOf(payout, payout.attempt).map((memo) => [memo, payout.id] as const)),
  )
}

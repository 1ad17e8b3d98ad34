/**
 * The books against the rows, and the rows against the chain: every unit that the payee received is
 * a payment's or is told apart.
 */
import { type FinalBlock, isPast } from '#money/settled.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type Capture, capturedAmong, listCaptures } from '#rows/payments/captures.ts'
import { type Entry, findUnbalanced, readRevenue, sumSettled } from '#rows/payments/ledger.ts'
import { listSettled, settledAmong } from '#rows/payments/proofs.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import {
  type Moved,
  readFinal,
  readFinalBlock,
  readMoved,
  type TransferPlace,
} from '#store/read/payments/settlements.ts'
import { verdictOn } from './verdictOn.ts'

/** A chain whose transfers are indexed here. */
export interface AuditedChain {
  readonly chainId: number
  readonly schema: string
  readonly reads: Queryable
}

/** The ledger's sum of an account beside the sum of its payments. */
export interface RevenueLine {
  readonly account: string
  readonly chainId: number
  readonly currency: string
  readonly ledger: bigint
  readonly payments: bigint
}

/** A payee's receipts of a token, in final blocks. */
export interface ReceivedLine {
  readonly chainId: number
  readonly recipient: string
  readonly currency: string
  /** Sums of the transfers that payments and channels name, and of those. */
  readonly transfers: bigint
  readonly payments: bigint
  /** Transfers that no payment names. */
  readonly others: { readonly count: number; readonly amount: bigint; readonly first: readonly Moved[] }
}

export interface AuditReport {
  readonly isRight: boolean
  readonly revenue: readonly RevenueLine[]
  readonly received: readonly ReceivedLine[]
  /** Transactions of the books that do not sum to 0. */
  readonly unbalanced: readonly string[]
  /** Payments and captures of channels that the chain has otherwise, each with what differs. */
  readonly differing: readonly { readonly payment: string; readonly problem: string }[]
  /** Payments that no final block has yet. */
  readonly open: number
}

const PAGE = 1_000
/** Others that are shown of a line. */
const OTHERS_MAX = 100

/** Reads all rows, a page at a time. */
export async function auditBooks(app: AppDatabase, chains: readonly AuditedChain[]): Promise<AuditReport> {
  const revenue = revenueLines(await readRevenue(app), await sumSettled(app))
  const unbalanced = await findUnbalanced(app)
  const found = []
  for (const chain of chains) found.push(await auditChain(app, chain))
  const received = found.flatMap(({ lines }) => lines)
  const differing = found.flatMap((one) => one.differing)
  const isRight =
    unbalanced.length === 0 &&
    differing.length === 0 &&
    revenue.every(({ ledger, payments }) => ledger === payments) &&
    received.every(({ transfers, payments }) => transfers === payments)
  return { isRight, revenue, received, unbalanced, differing, open: sumOf(found.map(({ open }) => open)) }
}

function revenueLines(revenue: readonly Entry[], settled: readonly Entry[]): readonly RevenueLine[] {
  const all = new Map([...revenue, ...settled].map((entry) => [keyOf(entry), entry]))
  const amountIn = (entries: readonly Entry[], key: string) =>
    entries.find((entry) => keyOf(entry) === key)?.amount ?? 0n
  return [...all].map(([key, { account, chainId, currency }]) => ({
    ...{ account, chainId, currency },
    ...{ ledger: amountIn(revenue, key), payments: amountIn(settled, key) },
  }))
}

const keyOf = ({ account, chainId, currency }: Entry) => `${account} ${chainId} ${currency}`

interface ChainAudit {
  readonly lines: readonly ReceivedLine[]
  readonly differing: readonly { readonly payment: string; readonly problem: string }[]
  readonly open: number
}

async function auditChain(app: AppDatabase, chain: AuditedChain): Promise<ChainAudit> {
  const differing: { payment: string; problem: string }[] = []
  /** One for each payee and token. */
  const sums: Sums = new Map()
  let open = 0
  const newest = await readFinalBlock(chain.reads, chain.schema)
  for (let after = ''; ; ) {
    const page = await listSettled(app, chain.chainId, after, PAGE)
    const final = await readFinal(
      chain.reads,
      chain.schema,
      page.map(({ txHash }) => txHash),
    )
    for (const payment of page) {
      const { id, recipient, currency, amount } = payment
      const key = `${recipient} ${currency}`
      const sum = sums.get(key) ?? { recipient, currency, amount: 0n }
      sums.set(key, sum)
      const transaction = final.get(payment.txHash)
      const verdict = transaction && verdictOn(payment, transaction)
      if (verdict) sum.amount += amount
      if (verdict?.kind === 'differs') differing.push({ payment: id, problem: verdict.problem })
      if (verdict) continue
      if (payment.isProved || (newest && isPast(newest, payment.validBeforeSeconds)))
        differing.push({ payment: id, problem: 'no final block has its transaction' })
      else open++
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.id
  }
  differing.push(...(await addCaptures(app, chain, sums, newest)))
  const lines = []
  for (const { recipient, currency, amount } of sums.values())
    lines.push(await receivedLine(app, chain, { recipient, currency, payments: amount }))
  return { lines, differing, open }
}

/** By payee and token. */
type Sums = Map<string, { recipient: string; currency: string; amount: bigint }>

/** Captures that were noted this long before a final block are in one. */
const CAPTURED_SECONDS = 3_600

/** Channels pay out for many payments at once. Those that no final block has, though it should. */
async function addCaptures(
  app: AppDatabase,
  { chainId, reads, schema }: AuditedChain,
  sums: Sums,
  newest: FinalBlock | null,
): Promise<ChainAudit['differing']> {
  const differing: { payment: string; problem: string }[] = []
  for (let after: Capture | null = null; ; ) {
    const page: readonly Capture[] = await listCaptures(app, chainId, after, PAGE)
    const hashes = page.map(({ txHash }) => txHash)
    const final = await readFinal(reads, schema, hashes)
    for (const { recipient, currency, amount, txHash, channelId, settled, capturedAt } of page) {
      if (!final.has(txHash)) {
        const isLate = newest && newest.seconds > capturedAt.getTime() / 1_000 + CAPTURED_SECONDS
        if (isLate)
          differing.push({ payment: `${channelId}:${settled}`, problem: `no final block has ${txHash}` })
        continue
      }
      const key = `${recipient} ${currency}`
      const sum = sums.get(key) ?? { recipient, currency, amount: 0n }
      sums.set(key, sum)
      sum.amount += amount
    }
    after = page.at(-1) ?? null
    if (!after || page.length < PAGE) return differing
  }
}

async function receivedLine(
  app: AppDatabase,
  { chainId, schema, reads }: AuditedChain,
  { recipient, currency, payments }: Pick<ReceivedLine, 'recipient' | 'currency' | 'payments'>,
): Promise<ReceivedLine> {
  let transfers = 0n
  let [count, amount] = [0, 0n]
  const first: Moved[] = []
  for (let place: TransferPlace | null = { block: -1, log: -1 }; place; ) {
    const side = { side: 'to', account: recipient, token: currency } as const
    const page = await readMoved(reads, schema, side, place, PAGE)
    const hashes = [...new Set(page.moved.map(({ txHash }) => txHash))]
    const captured = await capturedAmong(app, hashes)
    const named = (await settledAmong(app, chainId, hashes)).union(captured)
    for (const transfer of page.moved) {
      if (named.has(transfer.txHash)) transfers += transfer.amount
      else {
        count++
        amount += transfer.amount
        if (first.length < OTHERS_MAX) first.push(transfer)
      }
    }
    place = page.next
  }
  return { chainId, recipient, currency, payments, transfers, others: { count, amount, first } }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

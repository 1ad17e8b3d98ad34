/**
 * The operator's proof: every entry follows from its row, every row of money that came or left is
 * what final blocks have, fees included, and nothing left that no books have.
 */
import { feeManager } from '#money/outflows.ts'
import { compareEntries, type EntryDifference } from '#rows/books/compareEntries.ts'
import { listSent, listUnbooked, type Sent } from '#rows/books/moneySent.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { type FinalTransaction, type Moved, readFinal } from '#store/read/payments/settlements.ts'
import { type AuditedChain, type AuditReport, auditBooks } from './audit.ts'
import { auditLeft, type LeftLine, type PaidUnknown } from './left.ts'

export interface BooksReport {
  readonly isRight: boolean
  /** The first of them. */
  readonly differences: readonly EntryDifference[]
  /** Transactions whose entries do not sum to 0. */
  readonly unbalanced: readonly string[]
  /** Left for a job that has ended, and in no books. */
  readonly unbooked: readonly Sent[]
  /** Refunds, rewards and payments to sellers that the chain has otherwise. */
  readonly missent: readonly { readonly id: string; readonly problem: string }[]
  /** Owed by their rows, but paid by the chain: the database was restored. */
  readonly paidUnknown: readonly PaidUnknown[]
  /** Told apart, as the operator may have moved it: what else left payees and wallets. */
  readonly left: readonly LeftLine[]
  /** How many payouts and spends no final block of an indexed chain has yet. */
  readonly open: number
  /** Payments and what payees received. */
  readonly payments: AuditReport
}

const PAGE = 1_000
/** Differences that are shown. */
const SHOWN = 1_000

/** Reads all rows. @param chains those that are indexed here; of others the chain is not asked */
export async function checkBooks(app: AppDatabase, chains: readonly AuditedChain[]): Promise<BooksReport> {
  const differences = await compareEntries(app, SHOWN)
  const unbalanced = await findUnbalanced(app)
  const unbooked = await listUnbooked(app, SHOWN)
  const payments = await auditBooks(app, chains)
  const missent: { id: string; problem: string }[] = []
  const left: LeftLine[] = []
  const paidUnknown: PaidUnknown[] = []
  let open = 0
  for (const chain of chains) {
    const found = await auditLeft(app, chain)
    left.push(...found.left)
    paidUnknown.push(...found.paidUnknown)
    for await (const { id, problem, isOpen } of judgeSent(app, chain)) {
      if (isOpen) open++
      else if (problem !== null) missent.push({ id, problem })
    }
  }
  const isRight =
    payments.isRight &&
    [differences, unbalanced, unbooked, missent, paidUnknown].every(({ length }) => length === 0)
  return { isRight, differences, unbalanced, unbooked, missent, paidUnknown, left, open, payments }
}

interface JudgedSent {
  readonly id: string
  readonly isOpen: boolean
  /** Null where the chain has what the row says. */
  readonly problem: string | null
}

async function* judgeSent(
  app: AppDatabase,
  { chainId, schema, reads }: AuditedChain,
): AsyncGenerator<JudgedSent> {
  for (let after = ''; ; ) {
    const page = await listSent(app, chainId, after, PAGE)
    const hashes = page.flatMap(({ txHash }) => txHash ?? [])
    const final = hashes.length === 0 ? new Map() : await readFinal(reads, schema, hashes)
    for (const sent of page) {
      const transaction = final.get(sent.txHash ?? '')
      yield { id: sent.id, isOpen: !transaction, problem: transaction ? problemOf(sent, transaction) : null }
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.id
  }
}

function problemOf(
  { to, currency, amount, fees }: Sent,
  { succeeded, transfers }: FinalTransaction,
): string | null {
  if (!succeeded) return 'its transaction was reverted'
  const sent = transfers.filter((transfer) => transfer.to === to && transfer.token === currency)
  const paid = sent.find((transfer) => transfer.amount === amount)
  if (!paid)
    return `its transaction moved ${sent.map((each) => each.amount).join(', ') || 'nothing'} to ${to}, not ${amount}`
  if (!fees) return null
  const taken = feesOf(paid.from, transfers)
  const wrong = [...new Set([...taken.keys(), ...fees.keys()])].find(
    (token) => (taken.get(token) ?? 0n) !== (fees.get(token) ?? 0n),
  )
  if (wrong === undefined) return null
  return `its transaction cost ${taken.get(wrong) ?? 0n} of ${wrong}, not ${fees.get(wrong) ?? 0n}`
}

/** What the chain's fee manager got from an account, by token. */
function feesOf(account: string, transfers: readonly Moved[]): ReadonlyMap<string, bigint> {
  const fees = new Map<string, bigint>()
  for (const { from, to, token, amount } of transfers)
    if (from === account && to === feeManager) fees.set(token, (fees.get(token) ?? 0n) + amount)
  return fees
}

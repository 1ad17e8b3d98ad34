/**
 * The operator's proof: every entry follows from its row, every row from the rows it was made for,
 * every row of money that came or left is what final blocks have, fees included, and nothing left that
 * no books have.
 */
import { feeManager } from '#money/outflows.ts'
import { type FinalBlock, isPast } from '#money/settled.ts'
import { compareEntries, type EntryDifference } from '#rows/books/compareEntries.ts'
import { compareRows, type RowDifference } from '#rows/books/compareRows.ts'
import { listSent, listUnbooked, type SentMoney } from '#rows/books/moneySent.ts'
import { listMoneyChains } from '#rows/books/senders.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import {
  type FinalTransaction,
  type Moved,
  readFinal,
  readFinalBlock,
} from '#store/read/payments/settlements.ts'
import { type AuditedChain, type AuditReport, auditBooks } from './audit.ts'
import { auditLeft, type LeftLine, type PaidUnknown } from './left.ts'
import { checkNodeChain, type NodeChain, type NodeCheck } from './nodeChain.ts'

export interface BooksReport {
  readonly isRight: boolean
  /** The first of them. */
  readonly differences: readonly EntryDifference[]
  /** Rows that are not what other rows say of them. */
  readonly rows: readonly RowDifference[]
  /** Transactions whose entries do not sum to 0. */
  readonly unbalanced: readonly string[]
  /** Left for a job that has ended, and in no books. */
  readonly unbooked: readonly SentMoney[]
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
  /** Chains that are not indexed here. */
  readonly elsewhere: readonly NodeCheck[]
  /** Chains, or blocks of them, that nobody told of: nothing was found there, and nothing was proved. */
  readonly unchecked: readonly string[]
  /** Chains of rows of money that are not indexed here, and of which no setting names a node. */
  readonly unnamed: readonly number[]
}

/** The state of such a chain, and the operator's remedy. */
export const unnamedText = (chainId: number): string =>
  `chain ${chainId}: it is not indexed here, and no setting names a node of it; to check it, name one under \`chains\` of WALLET_FILE`

/** How many are found, of all kinds. */
export const countDifferences = ({
  differences,
  rows,
  unbalanced,
  unbooked,
  missent,
  paidUnknown,
  payments,
}: Omit<BooksReport, 'isRight'>): number =>
  [differences, rows, unbalanced, unbooked, missent, paidUnknown, payments.differing]
    .map(({ length }) => length)
    .reduce((sum, count) => sum + count, 0) +
  payments.revenue.filter(({ ledger, payments: paid }) => ledger !== paid).length +
  payments.received.filter(({ transfers, payments: paid }) => transfers !== paid).length

/** The chains to ask. */
export interface BookedChains {
  /** Those that are indexed here. */
  readonly indexed: readonly AuditedChain[]
  /** Others that money moves on. */
  readonly others: readonly NodeChain[]
}

const PAGE = 1_000
/** Differences that are shown. */
const SHOWN = 1_000

/** Reads all rows. @param all reads other chains from the first block of the books, without a bound */
export async function checkBooks(app: AppDatabase, chains: BookedChains, all = false): Promise<BooksReport> {
  const differences = await compareEntries(app, SHOWN)
  const rows = await compareRows(app, SHOWN)
  const unbalanced = await findUnbalanced(app)
  const unbooked = await listUnbooked(app, SHOWN)
  const payments = await auditBooks(app, chains.indexed)
  const sent = await checkSent(app, chains.indexed)
  const elsewhere: NodeCheck[] = []
  for (const chain of chains.others) elsewhere.push(await checkNodeChain(app, chain, all))
  const paidUnknown = [...sent.paidUnknown, ...elsewhere.flatMap((one) => one.paidUnknown)]
  const missent = [...sent.missent, ...elsewhere.flatMap((one) => one.differing)]
  const found = {
    ...{ differences, rows, unbalanced, unbooked, missent, paidUnknown },
    ...{ left: sent.left, open: sent.open, payments, elsewhere },
    ...(await uncheckedAmong(app, chains, elsewhere)),
  }
  return { isRight: countDifferences(found) === 0, ...found }
}

async function uncheckedAmong(
  app: AppDatabase,
  { indexed, others }: BookedChains,
  elsewhere: readonly NodeCheck[],
): Promise<Pick<BooksReport, 'unchecked' | 'unnamed'>> {
  const unchecked = elsewhere.flatMap((one) => one.unchecked ?? [])
  const unnamed: number[] = []
  for (const chainId of await listMoneyChains(app)) {
    const held = indexed.find((chain) => chain.chainId === chainId)
    if (held && !(await readFinalBlock(held.reads, held.schema)))
      unchecked.push(`chain ${chainId}: no final block is indexed here`)
    if (!held && !others.some((chain) => chain.chainId === chainId)) unnamed.push(chainId)
  }
  return { unchecked, unnamed }
}

type SentReport = Pick<BooksReport, 'missent' | 'left' | 'paidUnknown' | 'open'>

async function checkSent(app: AppDatabase, chains: readonly AuditedChain[]): Promise<SentReport> {
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
  return { missent, left, paidUnknown, open }
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
  const newest = await readFinalBlock(reads, schema)
  for (let after = ''; ; ) {
    const page = await listSent(app, chainId, after, PAGE)
    const hashes = page.flatMap(({ txHash }) => txHash ?? [])
    const final = hashes.length === 0 ? new Map() : await readFinal(reads, schema, hashes)
    for (const sent of page) {
      const transaction = final.get(sent.txHash ?? '')
      if (transaction) yield { id: sent.id, isOpen: false, problem: problemOf(sent, transaction) }
      else if (newest && isOver(sent, newest))
        yield { id: sent.id, isOpen: false, problem: 'no final block has its transaction' }
      else yield { id: sent.id, isOpen: true, problem: null }
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last.id
  }
}

/** Whether a final block would have it by now. */
const isOver = ({ blockNumber, validBeforeSeconds }: SentMoney, newest: FinalBlock): boolean =>
  (blockNumber !== null && blockNumber <= newest.number) || isPast(newest, validBeforeSeconds)

function problemOf(
  { to, currency, amount, fees, isReverted }: SentMoney,
  { succeeded, transfers }: FinalTransaction,
): string | null {
  if (isReverted) return succeeded ? 'its transaction was not reverted' : fees && feeProblem(fees, transfers)
  if (!succeeded) return 'its transaction was reverted'
  const sent = transfers.filter((transfer) => transfer.to === to && transfer.token === currency)
  const paid = sent.find((transfer) => transfer.amount === amount)
  if (!paid)
    return `its transaction moved ${sent.map((each) => each.amount).join(', ') || 'nothing'} to ${to}, not ${amount}`
  return (
    fees &&
    feeProblem(
      fees,
      transfers.filter(({ from }) => from === paid.from),
    )
  )
}

function feeProblem(fees: NonNullable<SentMoney['fees']>, left: readonly Moved[]): string | null {
  const taken = feesOf(left)
  const wrong = [...new Set([...taken.keys(), ...fees.keys()])].find(
    (token) => (taken.get(token) ?? 0n) !== (fees.get(token) ?? 0n),
  )
  if (wrong === undefined) return null
  return `its transaction cost ${taken.get(wrong) ?? 0n} of ${wrong}, not ${fees.get(wrong) ?? 0n}`
}

/** Receipts of the chain's fee manager, by token. */
function feesOf(transfers: readonly Moved[]): ReadonlyMap<string, bigint> {
  const fees = new Map<string, bigint>()
  for (const { to, token, amount } of transfers)
    if (to === feeManager) fees.set(token, (fees.get(token) ?? 0n) + amount)
  return fees
}

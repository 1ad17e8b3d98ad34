/** A job in the words and sums of its page. */
import { sumOfDecimals } from '../model/decimal.ts'
import { staged } from '../model/planDraft.ts'
import { elapsedLabel } from '../model/rates.ts'
import type { Job, JobAttempt, JobReceipt, JobRun } from './job.ts'

type Tone = 'good' | 'busy' | 'bad'

export interface Word {
  readonly text: string
  readonly tone: Tone
}

const jobWords: Readonly<Record<string, Word>> = {
  ordered: { text: 'payment pending', tone: 'busy' },
  queued: { text: 'paid, about to begin', tone: 'busy' },
  running: { text: 'running', tone: 'busy' },
  succeeded: { text: 'succeeded', tone: 'good' },
  partially_succeeded: { text: 'partly succeeded', tone: 'bad' },
  failed: { text: 'failed', tone: 'bad' },
  cancelled: { text: 'cancelled', tone: 'bad' },
}

const runWords: Readonly<Record<string, Word>> = {
  pending: { text: 'waits', tone: 'busy' },
  running: { text: 'running', tone: 'busy' },
  waiting: { text: 'service works on', tone: 'busy' },
  succeeded: { text: 'succeeded', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  skipped: { text: 'skipped', tone: 'bad' },
  cancelled: { text: 'cancelled', tone: 'bad' },
}

const remedies = {
  retry: 'The same may work later.',
  change_plan: 'Another plan is needed.',
  none: '',
} as const

const named = (words: Readonly<Record<string, Word>>, name: string): Word =>
  words[name] ?? { text: name.replaceAll('_', ' '), tone: 'busy' }

/** `ordered` while its payment has not settled; then a state of the API. */
export const stateOf = ({ order }: Job): string => order?.state ?? 'ordered'

export const stateWord = (state: string): Word => named(jobWords, state)

export const runWord = ({ state, carried }: JobRun): Word =>
  carried ? { text: 'carried over', tone: 'good' } : named(runWords, state)

/** The problem and its remedy; null if there is none. */
export const problemOf = ({ error }: Pick<Job, 'error'> | Pick<JobRun, 'error'>): string | null =>
  error ? `${error.message} ${remedies[error.remedy]}`.trim() : null

/** Runs by stage. Once the plan is removed with the results, they are one list. */
export function stagesOf(runs: readonly JobRun[]): readonly (readonly JobRun[])[] {
  const nodes = runs.map((run) => ({ id: run.nodeId, dependsOn: run.dependsOn ?? [], run }))
  const { stages, stuck } = staged(nodes)
  return [...stages, stuck].map((stage) => stage.map(({ run }) => run)).filter(({ length }) => length > 0)
}

/** Seconds, in words, from the order to the end; null before it. */
export function tookText({ order }: Job): string | null {
  if (order?.endedAt === undefined) return null
  return elapsedLabel(Math.max(0, Date.parse(order.endedAt) - Date.parse(order.createdAt)))
}

/** The outcome of one attempt, without its payment. */
export function attemptText({ attempt, outcome, status, code, durationMs }: JobAttempt): string {
  const answer = outcome === 'answered' && status !== undefined ? `answered ${status}` : outcome
  const what = (answer ?? 'under way').replaceAll('_', ' ')
  const why = code === undefined ? '' : ` (${code})`
  const took = durationMs === undefined ? '' : ` in ${elapsedLabel(durationMs)}`
  return `Attempt ${attempt}: ${what}${why}${took}`
}

export interface Figure {
  readonly name: string
  readonly value: string
  readonly meaning: string
}

/** The cost of the job and the sum that comes back, in its currency. */
export function figuresOf({ order, runs = [], usage }: Job, receipt: JobReceipt | null): readonly Figure[] {
  if (!order) return []
  const { charged, currency, refund } = order
  const paid = runs.flatMap(({ attempts }) => attempts.flatMap((each) => each.paid ?? []))
  const unknown = paid.filter(({ fee }) => fee === undefined).length
  const isReversed = receipt?.settlement?.finality === 'reversed'
  return [
    { name: 'Charged', value: `${charged} ${currency}`, meaning: settledText(receipt) },
    {
      name: 'Spent',
      value: `${usage?.committed ?? sumOfDecimals(paid.map(({ amount }) => amount))} ${currency}`,
      meaning: usage ? 'calls with the margin of the quote, and fees' : 'paid to services so far',
    },
    {
      name: 'Fees of chains',
      value: `${sumOfDecimals(paid.flatMap(({ fee }) => fee ?? []))} ${currency}`,
      meaning:
        unknown === 0 ? 'part of what is spent' : `of ${unknown} of ${paid.length} calls not known yet`,
    },
    {
      name: 'Paid back',
      value: refund ? `${refund.amount} ${currency}` : `0 ${currency}`,
      meaning: isReversed
        ? 'the chain took the payment back'
        : refundText(refund?.status, usage !== undefined),
    },
  ]
}

const finalities = {
  pending: 'settled; no final block was compared yet',
  confirmed: 'settled in a final block',
  differs: 'a final block says otherwise',
  reversed: 'the chain took the payment back',
} as const

const settledText = (receipt: JobReceipt | null): string =>
  receipt?.settlement ? finalities[receipt.settlement.finality] : 'what the plan was quoted at'

function refundText(status: string | undefined, isOver: boolean): string {
  if (!isOver) return 'known at the end: what was not spent'
  if (status === undefined) return 'nothing is owed back'
  if (status === 'paid') return 'in a final block'
  return status === 'sending' ? 'on its way' : 'queued; small amounts wait for others, a day at most'
}

export interface MovedMoney {
  readonly what: string
  readonly amount: string
  readonly chainId: number | null
  /** Null while the chain has not told it. */
  readonly hash: string | null
}

/** Transactions of a job: its payment, its calls, its refund. */
export function transactionsOf({ order, runs = [] }: Job, receipt: JobReceipt | null): readonly MovedMoney[] {
  if (!order) return []
  const { charged, currency, refund } = order
  const settlement = receipt?.settlement ?? null
  const calls = runs.flatMap(({ nodeId, attempts }) =>
    attempts.flatMap(({ paid }): MovedMoney[] =>
      paid
        ? [
            {
              what: `call of ${nodeId}`,
              amount: `${paid.amount} ${currency}`,
              chainId: paid.chainId,
              hash: paid.transactionHash ?? null,
            },
          ]
        : [],
    ),
  )
  const payment: MovedMoney[] = settlement
    ? [
        {
          what: `your payment (${settlement.protocol})`,
          amount: `${charged} ${currency}`,
          chainId: settlement.chainId,
          hash: settlement.transactionHash,
        },
      ]
    : []
  const back: MovedMoney[] = refund
    ? [
        {
          what: 'refund',
          amount: `${refund.amount} ${currency}`,
          chainId: settlement?.chainId ?? null,
          hash: refund.transactionHash ?? null,
        },
      ]
    : []
  return [...payment, ...calls, ...back]
}

/** `2.1 KiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}

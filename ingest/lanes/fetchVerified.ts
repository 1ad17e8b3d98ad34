import { failure, messageOf } from '#errors.ts'
import { remedyOf } from '#runtime/backoff.ts'
import type { VisitFailpoint } from '#runtime/failpoints.ts'
import { DecodeWorkerError } from '../DecodeWorkerError.ts'
import type { BlockRange } from '../range.ts'
import { NodeAnswerError } from '../read/NodeAnswerError.ts'
import { isIncomplete } from '../read/parsedAnswer.ts'
import type { Batch, Decode } from '../sink.ts'
import type { RawRange, Source } from '../source.ts'
import { RefutedError } from '../verify/RefutedError.ts'
import { assertContinuous } from './reorg.ts'
import { type Answered, type Fetched, UnprovedAnswers, type Witnessing } from './UnprovedAnswers.ts'

export type { Fetched } from './UnprovedAnswers.ts'

/** The means to turn a range into a checked batch, for both lanes. */
export interface Fetcher<B extends Batch> {
  readonly source: Source
  readonly decode: Decode<B, RawRange>
  readonly failpoint: VisitFailpoint
  /** Prefix of the failpoints visited: which lane this is. */
  readonly lane: 'head' | 'history'
  /** Absent, what is not refuted is taken. */
  readonly witnessing?: Witnessing<B>
}

/**
 * Failures in a row before the caller has to wait: near the head a node often lacks receipts for
 * some ms.
 */
const FAILURES_MAX = 3

/**
 * Fetches and decodes `range` or a prefix of it. An answer that fails in any way is reported
 * against its endpoint and asked for again elsewhere. A worker that is lost may have died of the
 * answer or not: another endpoint is asked first, and that its answer can be read decides.
 * @param not endpoints that are asked last
 * @throws the last error after FAILURES_MAX failures; SourceError when no endpoint answers.
 */
export async function fetchVerified<B extends Batch>(
  fetcher: Fetcher<B>,
  range: BlockRange,
  signal?: AbortSignal,
  not: ReadonlySet<string> = new Set(),
): Promise<Fetched<B>> {
  const { source, failpoint, lane } = fetcher
  const asked = new Set(not)
  const unproved = new UnprovedAnswers(source, fetcher.witnessing)
  const failures = new Failures()
  const lost = new Set<string>()
  let wish: Wish = { range, receiptsSingly: false, encoded: false }
  for (;;) {
    const { receiptsSingly, encoded } = wish
    const wished = unproved.first?.range ?? wish.range
    const raw = await source.fetch(wished, { ...(signal && { signal }), not: asked, receiptsSingly, encoded })
    failpoint(`${lane}.fetched`)
    let answer: Answered<B>
    try {
      answer = await decodeAnswer(fetcher, raw, signal)
    } catch (error) {
      signal?.throwIfAborted()
      const singly = (block: number): Wish =>
        unproved.first ? { ...wish, receiptsSingly: true } : { ...wish, ...wishFor(raw.range, block) }
      if (isIncomplete(error) && !receiptsSingly) {
        // The blocks before it are asked for first.
        if (error.blockNumber === raw.range.from) source.reportLacking?.(raw.endpoint, error.blockNumber)
        wish = singly(error.blockNumber)
        continue
      }
      asked.add(raw.endpoint)
      if (error instanceof DecodeWorkerError) lost.add(raw.endpoint)
      // A receipt that is not there yet is no lie.
      else if (!isIncomplete(error)) source.reportRefuted(raw.endpoint)
      failures.add(raw, error)
      const falseAt = failures.isLast && !receiptsSingly ? blockOfReceipts(error) : null
      if (falseAt !== null) wish = singly(falseAt)
      continue
    }
    if (!lost.has(answer.endpoint)) for (const endpoint of lost) source.reportRefuted(endpoint)
    lost.clear()
    const isOpen = fetcher.witnessing?.isProved(answer.batch) === false
    if (isOpen && answer.hasEncoded) source.reportEncodedInVain?.(raw.endpoint)
    if (isOpen && !encoded && source.tellsEncoded) {
      unproved.setAside(answer)
      wish = { range: answer.batch.range, receiptsSingly, encoded: true }
      continue
    }
    asked.add(raw.endpoint)
    const taken = unproved.weigh(answer)
    if (taken) return taken
  }
}

interface Wish {
  readonly range: BlockRange
  readonly receiptsSingly: boolean
  readonly encoded: boolean
}

/**
 * The block whose receipts are not those of its header, or none: some nodes' lists are wrong where
 * each receipt by itself is right.
 */
function blockOfReceipts(error: unknown): number | null {
  if (error instanceof RefutedError) return ofReceipts.has(error.part) ? error.blockNumber : null
  // Paths within a block begin with a name.
  const isOfList = error instanceof NodeAnswerError && error.field.startsWith('[')
  return isOfList ? (error.blockNumber ?? null) : null
}

const ofReceipts: ReadonlySet<RefutedError['part']> = new Set(['receiptsRoot', 'bloom'])

/** Blocks before the one that lacks receipts; where there are none, that block, receipt by receipt. */
const wishFor = ({ from }: BlockRange, incomplete: number): Omit<Wish, 'encoded'> =>
  incomplete > from
    ? { range: { from, to: incomplete - 1 }, receiptsSingly: false }
    : { range: { from, to: from }, receiptsSingly: true }

async function decodeAnswer<B extends Batch>(
  { decode, failpoint, lane }: Fetcher<B>,
  raw: RawRange,
  signal?: AbortSignal,
): Promise<Answered<B>> {
  const batch = await decode(raw, signal)
  assertContinuous(null, batch.refs)
  failpoint(`${lane}.decoded`)
  return { batch, endpoint: raw.endpoint, hasEncoded: raw.encoded !== undefined }
}

/** Failed answers to one range. */
class Failures {
  #count = 0
  /** The next failure is the last one. */
  get isLast(): boolean {
    return this.#count === FAILURES_MAX - 1
  }

  /** Answers that no store can take, by endpoint. */
  readonly #final = new Map<string, unknown>()

  /**
   * @throws when it is enough: what two endpoints say alike stops the lane, what one says alone
   * does not
   */
  add({ endpoint, range }: RawRange, error: unknown): void {
    this.#count++
    if (remedyOf(error) === 'stop') {
      const alike = [...this.#final].some(
        ([of, other]) => of !== endpoint && messageOf(other) === messageOf(error),
      )
      if (alike) throw error
      this.#final.set(endpoint, error)
    }
    if (this.#count < FAILURES_MAX) return
    throw remedyOf(error) === 'stop' ? new AnswerUnusableError(endpoint, range, error) : error
  }
}

/**
 * One endpoint's answer cannot be stored. Another endpoint's may be, and so may its own when it
 * tells the truth again.
 */
export class AnswerUnusableError extends failure('AnswerUnusableError', 'answer_unusable', 'retry') {
  readonly endpoint: string
  readonly blockNumber: number

  constructor(endpoint: string, { from }: BlockRange, cause: unknown) {
    super(`${endpoint}: an answer from block ${from} on cannot be used: ${messageOf(cause)}`, { cause })
    this.endpoint = endpoint
    this.blockNumber = from
  }
}

/**
 * Answers of which not everything could be proved: who else tells the same decides whether they are
 * taken.
 */
import { failure } from '#errors.ts'
import type { Batch } from '../sink.ts'
import type { Source } from '../source.ts'

/** A batch whose blocks were verified and link to each other, and the endpoint that gave them. */
export interface Fetched<B extends Batch> {
  readonly batch: B
  readonly endpoint: string
}

/** As it came, and whether the blocks' own bytes came with it. */
export interface Answered<B extends Batch> extends Fetched<B> {
  readonly hasEncoded: boolean
}

/** How a batch is looked at; what its rows are is nothing to the lanes. */
export interface Witnessing<B extends Batch> {
  /** Whether all of it was recomputed. */
  isProved(batch: B): boolean
  isSame(one: B, other: B): boolean
  /**
   * Whether what was not proved differs from what was in nothing but what honest endpoints leave
   * out. Absent, they leave out nothing.
   */
  leavesOut?(one: B, proved: B): boolean
  /**
   * Told of a batch that was taken on the word of one endpoint, because no other could be asked.
   */
  takenAlone(batch: B): void
  /** Told of a batch that was proved, or that two endpoints told alike. */
  takenSurely(batch: B): void
}

/**
 * One range's answers so far. With an invented field or type an endpoint could have any amount
 * taken: such an answer is taken when a second endpoint gives the same content, and marked when
 * there is none to ask.
 */
export class UnprovedAnswers<B extends Batch> {
  readonly #source: Source
  readonly #rules: Witnessing<B> | undefined
  #open: Answered<B>[] = []
  #aside: Answered<B> | null = null

  constructor(source: Source, rules: Witnessing<B> | undefined) {
    this.#source = source
    this.#rules = rules
  }

  /** The answer that waits for a witness, if one does. */
  get first(): B | undefined {
    return this.#open[0]?.batch
  }

  /** An answer whose blocks are asked for once more, with their own bytes. */
  setAside(answer: Answered<B>): void {
    this.#aside = answer
  }

  /**
   * The answer, when it is to be taken; null when another endpoint has to be asked.
   * @throws UnprovedDifferError when all that could be asked were, and no two agree
   */
  weigh(answer: Answered<B>): Fetched<B> | null {
    const rules = this.#rules
    if (!rules) return answer
    const { batch, endpoint } = answer
    const others = this.#open.filter((one) => one.endpoint !== endpoint)
    const isProved = rules.isProved(batch)
    if (isProved || others.some((one) => isAlike(one, answer, rules))) {
      if (isProved) this.#blameOthers(answer, rules)
      rules.takenSurely(batch)
      return answer
    }
    if ((this.#source.answering ?? 1) < 2) {
      rules.takenAlone(batch)
      return answer
    }
    // All that answer now were asked.
    if (others.length < this.#open.length) throw new UnprovedDifferError(batch.range.from)
    // A shorter answer is what the next one is compared with.
    this.#open = [answer, ...this.#open.filter((one) => isOfRange(one.batch, batch))]
    return null
  }

  /** Other endpoints' answers on the same blocks that could not be proved were invented. */
  #blameOthers(proved: Answered<B>, rules: Witnessing<B>): void {
    const hashes = new Set(proved.batch.refs.map(({ hash }) => hash))
    const isFalse = (one: Answered<B>) =>
      one.endpoint !== proved.endpoint &&
      one.batch.refs.some(({ hash }) => hashes.has(hash)) &&
      !rules.leavesOut?.(one.batch, proved.batch) &&
      (!proved.hasEncoded || isBehind(one, proved, rules))
    const answers = [...this.#open, ...(this.#aside ? [this.#aside] : [])]
    const endpoints = new Set(answers.filter(isFalse).map(({ endpoint }) => endpoint))
    for (const endpoint of endpoints) this.#source.reportRefuted(endpoint)
  }
}

/**
 * Endpoints without the blocks' own bytes, if those were needed, are honest if the rest is the same; one
 * that told bytes that prove nothing is not.
 */
const isBehind = <B extends Batch>(one: Answered<B>, proved: Answered<B>, rules: Witnessing<B>): boolean =>
  isOfRange(one.batch, proved.batch) && (one.hasEncoded || !rules.isSame(one.batch, proved.batch))

const isAlike = <B extends Batch>(one: Answered<B>, other: Answered<B>, rules: Witnessing<B>): boolean =>
  isOfRange(one.batch, other.batch) && rules.isSame(one.batch, other.batch)

const isOfRange = (one: Batch, other: Batch): boolean =>
  one.range.from === other.range.from && one.range.to === other.range.to

/**
 * A block that cannot be proved was told by one endpoint alone, or in different ways, and another
 * one could know.
 */
export class UnprovedDifferError extends failure('UnprovedDifferError', 'unproved_differ', 'retry') {
  readonly blockNumber: number

  constructor(blockNumber: number) {
    super(`block ${blockNumber} cannot be proved whole, and no two endpoints that answer tell the same of it`)
    this.blockNumber = blockNumber
  }
}

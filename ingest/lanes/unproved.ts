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

/** How a batch is looked at; what its rows are is nothing to the lanes. */
export interface Witnessing<B extends Batch> {
  /** Whether all of it was recomputed. */
  isProved(batch: B): boolean
  isSame(one: B, other: B): boolean
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
  #open: Fetched<B>[] = []

  constructor(source: Source, rules: Witnessing<B> | undefined) {
    this.#source = source
    this.#rules = rules
  }

  /** The answer that waits for a witness, if one does. */
  get first(): B | undefined {
    return this.#open[0]?.batch
  }

  /**
   * The answer, when it is to be taken; null when another endpoint has to be asked.
   * @throws UnprovedDifferError when all that could be asked were, and no two agree
   */
  weigh(answer: Fetched<B>): Fetched<B> | null {
    const rules = this.#rules
    if (!rules) return answer
    const { batch, endpoint } = answer
    const others = this.#open.filter((one) => one.endpoint !== endpoint)
    const isAlike = (one: Fetched<B>) => isOfRange(one.batch, batch) && rules.isSame(one.batch, batch)
    const isProved = rules.isProved(batch)
    if (isProved || others.some(isAlike)) {
      rules.takenSurely(batch)
      return isProved ? this.#proved(answer) : answer
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

  /** What another endpoint told of the same blocks, and could not be proved, was invented. */
  #proved(answer: Fetched<B>): Fetched<B> {
    const hashes = new Set(answer.batch.refs.map(({ hash }) => hash))
    for (const { batch, endpoint } of this.#open)
      if (batch.refs.some(({ hash }) => hashes.has(hash))) this.#source.reportRefuted(endpoint)
    return answer
  }
}

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

/** Answers as they leave: JSON written by hand around texts that are passed on. */
import type { RpcFailure as RpcFailureKind } from '#ingest/rpc/client/errors.ts'
import type { RpcFailure } from './failure.ts'
import { limitExceeded } from './failure.ts'

/** The outcome of one call. */
export interface RpcOutcome {
  readonly kind: 'result' | 'error'
  /** JSON. */
  readonly text: string
  readonly source: 'store' | 'node'
  /** The meaning of a node's error, as far as it is known. */
  readonly failure?: RpcFailureKind
}

/** All that a request is answered with. */
export interface RpcAnswer {
  readonly text: string
  /** `node` where any part of it is. */
  readonly source: 'store' | 'node'
}

/** Characters of one answer; more is told to be too much, entry by entry. */
export const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024

export const failed = (failure: RpcFailure, source: RpcOutcome['source'] = 'store'): RpcOutcome => ({
  kind: 'error',
  text: JSON.stringify(failure),
  source,
})

export const answered = (text: string, source: RpcOutcome['source']): RpcOutcome => ({
  kind: 'result',
  text,
  source,
})

/** Answers in the order of their calls, without those of notifications. */
export class AnswerWriter {
  readonly #texts: string[] = []
  #characters = 0
  #source: RpcAnswer['source'] = 'store'

  add(id: string, outcome: RpcOutcome): void {
    const fits = this.#characters + outcome.text.length <= ANSWER_CHARACTERS_MAX
    const { kind, text, source } = fits ? outcome : tooLarge
    this.#characters += text.length
    if (source === 'node') this.#source = 'node'
    this.#texts.push(`{"jsonrpc":"2.0","id":${id},"${kind}":${text}}`)
  }

  /** Null where nothing is to be answered. */
  end(isBatch: boolean): RpcAnswer | null {
    if (this.#texts.length === 0) return null
    const text = isBatch ? `[${this.#texts.join(',')}]` : (this.#texts[0] ?? '')
    return { text, source: this.#source }
  }
}

const tooLarge = failed(limitExceeded(`the answer is larger than ${ANSWER_CHARACTERS_MAX} bytes`))

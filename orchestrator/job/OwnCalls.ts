/**
 * Calls of this program's own data. No connection goes to the machine itself: they pass through the
 * server's door in process, with the rights of a stranger, and cost nothing.
 */
import { egressBudgets } from '#egress/Egress.ts'
import { EgressRefusedError } from '#egress/errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Buyer, Purchase, Purchased } from '#wallet/buyer.ts'
import { refusedPurchase } from '#wallet/spend/purchased.ts'

export interface OwnCall extends Pick<Purchase, 'method' | 'headers' | 'body' | 'bytesMax'> {
  /** Path and query. */
  readonly url: string
  /** The client that quotas count it for. */
  readonly remoteAddress: string
  readonly signal: AbortSignal
}

export interface OwnCallsOptions {
  /** Buys all other calls. */
  readonly buyer: Buyer
  /** Whether this very program answers there. */
  readonly isOwn: (origin: string) => boolean
  /** Asks its server. @throws EgressRefusedError for an answer that is too long, and the signal's reason */
  readonly ask: (
    call: OwnCall,
  ) => Promise<Pick<Extract<Purchased, { kind: 'answered' }>, 'status' | 'contentType' | 'body'>>
  readonly clock: Clock
}

export class OwnCalls implements Buyer {
  readonly #options: OwnCallsOptions

  constructor(options: OwnCallsOptions) {
    this.#options = options
  }

  async buy(purchase: Purchase, signal: AbortSignal): Promise<Purchased> {
    const { buyer, isOwn, clock } = this.#options
    const { origin, pathname, search } = new URL(purchase.url)
    if (!isOwn(origin)) return buyer.buy(purchase, signal)
    if (clock.now() >= purchase.deadlineMs)
      return refusedPurchase('deadline_passed', 'The time for it is over.')
    return this.#ask(purchase, `${pathname}${search}`, signal)
  }

  recover(...calls: Parameters<Buyer['recover']>): ReturnType<Buyer['recover']> {
    return this.#options.buyer.recover(...calls)
  }

  /** None of them is of this program's own data. */
  paidCalls(): number {
    return this.#options.buyer.paidCalls()
  }

  async #ask(
    { method, headers, body, bytesMax, jobId }: Purchase,
    url: string,
    signal: AbortSignal,
  ): Promise<Purchased> {
    const time = AbortSignal.timeout(egressBudgets.purchase.timeoutMs)
    try {
      const answer = await this.#options.ask({
        ...{ method, url, headers, body, bytesMax },
        ...{ remoteAddress: clientOf(jobId), signal: AbortSignal.any([signal, time]) },
      })
      // Beyond its quota a read is asked for money; the job waits for the next minute instead.
      return { kind: 'answered', ...answer, status: answer.status === 402 ? 429 : answer.status, paid: null }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof EgressRefusedError)
        return refusedPurchase('answer_refused', 'The answer is too long.')
      if (time.aborted) return refusedPurchase('unreachable', 'This service did not answer in time.')
      throw error
    }
  }
}

/**
 * An address for each job, of those that documents have for examples (RFC 3849): no client comes
 * from there, and each has a quota of its own.
 */
function clientOf(jobId: string): string {
  const digits = jobId.replaceAll('-', '')
  return `2001:db8:${digits.slice(0, 4)}:${digits.slice(4, 6)}00::`
}

/** The end of a request's time: its deadline, or the moment its client is gone. Either aborts the work it started. */
import type { ServerResponse } from 'node:http'
import { MillraceError } from '#errors.ts'
import type { Clock } from '#runtime.ts'
import { ApiError } from './errors.ts'

/** Every operation answers within this time (spec "Limits"). */
export const deadlineMsDefault = 60_000

/** The client closed its connection before it had its answer. Nobody is there to be told. */
export class ClientGoneError extends MillraceError {
  override readonly name = 'ClientGoneError'
  readonly code = 'client_gone'
  readonly remedy = 'stop'
}

export interface Deadline {
  /** Aborted, with the reason, when the time is over. Work passes it on to the databases. */
  readonly signal: AbortSignal
  /** The result of `work`, or the reason for which the time is over: work that ignores its signal is not waited for. */
  bound<Result>(work: Promise<Result>): Promise<Result>
  /** Takes the time limit away: a live stream lasts as long as its client does. */
  lift(): void
}

/**
 * Starts a request's time. It ends by itself with the response, body included, so that a download is bounded too.
 * `deadlineMs` null means that only the client can end it.
 */
export function startDeadline(response: ServerResponse, deadlineMs: number | null, clock: Clock): Deadline {
  const working = new AbortController()
  const lifted = new AbortController()
  const { promise: over, reject } = Promise.withResolvers<never>()
  over.catch(() => {})
  const end = (reason: Error) => {
    lifted.abort()
    working.abort(reason)
    reject(reason)
  }
  const onClose = () => {
    if (response.writableFinished) lifted.abort()
    else end(new ClientGoneError('the client closed the connection'))
  }
  if (response.closed) onClose()
  else response.once('close', onClose)
  if (deadlineMs !== null) {
    clock.sleep(deadlineMs, lifted.signal).then(
      () => end(new ApiError('request_timeout')),
      () => {},
    )
  }
  const bound = async <Result>(work: Promise<Result>) => {
    try {
      return await Promise.race([work, over])
    } catch (error) {
      // Work that noticed the signal may fail in its own words before we do in ours.
      throw working.signal.aborted ? working.signal.reason : error
    }
  }
  return { signal: working.signal, bound, lift: () => lifted.abort() }
}

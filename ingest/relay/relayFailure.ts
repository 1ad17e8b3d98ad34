/** The meaning of endpoints' failures for a call that is passed on. */
import { MillraceError } from '#errors.ts'
import { RpcError, type RpcFailure } from '../rpc/client/errors.ts'

/** Whether a moment later it may be over. */
export const isPassing = (error: RpcError | undefined): boolean =>
  error !== undefined && passing.has(error.failure)

const passing: ReadonlySet<RpcFailure> = new Set(['unreachable', 'overloaded', 'malformed', 'rate_limited'])

/** A gateway that refused the request, or a server that took no connection, passed nothing on. */
export const wasNotSent = ({ failure, cause }: RpcError): boolean =>
  failure === 'rate_limited' || failure === 'unauthorized' || notConnected.has(Object(cause).code)

const notConnected: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ENOTFOUND'])

/** No endpoint answered. What they said is for the log: it may speak of our account with them. */
export class RelayFailedError extends MillraceError {
  override readonly name = 'RelayFailedError'
  readonly code = 'relay_failed'
  readonly remedy = 'retry'

  constructor(asked: string, endpoints: number, cause: unknown) {
    super(`${asked}: none of ${endpoints} endpoints answered`, cause === undefined ? undefined : { cause })
  }
}

/** Whether a node had an answer that is more than anybody is given. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof RelayFailedError && error.cause instanceof RpcError && error.cause.failure === 'too_large'

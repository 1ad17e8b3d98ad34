/** Errors of single calls, as JSON-RPC tells them: codes of JSON-RPC 2.0 and EIP-1474. */

export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export const invalidRequest = (problem: string): RpcFailure => ({
  code: -32600,
  message: `invalid request: ${problem}`,
})

export const methodMissing = (message: string): RpcFailure => ({ code: -32601, message })

export const invalidParams = (problem: string): RpcFailure => ({
  code: -32602,
  message: `invalid params: ${problem}`,
})

/** The error for a call that the pool could not answer; it says nothing of the pool. */
export const internalError = (data?: unknown): RpcFailure => ({
  code: -32603,
  message: 'internal error: no node answered',
  ...(data !== undefined && { data }),
})

export const limitExceeded = (message: string, data?: unknown): RpcFailure => ({
  code: -32005,
  message,
  ...(data !== undefined && { data }),
})

export const notEnabled = (method: string): RpcFailure => ({
  code: -32004,
  message: `not_enabled: ${method} is not enabled here`,
})

/** A failure that a part of the door throws to end its call. */
export class RpcFailureError extends Error {
  override readonly name = 'RpcFailureError'
  readonly failure: RpcFailure

  constructor(failure: RpcFailure) {
    super(failure.message)
    this.failure = failure
  }
}

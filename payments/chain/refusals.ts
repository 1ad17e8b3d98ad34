/** Nodes that surely did not take what they were sent, by their code or by viem's reading of their words. */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  BaseError,
  custom,
  FeeCapTooHighError,
  FeeCapTooLowError,
  HttpRequestError,
  InsufficientFundsError,
  IntrinsicGasTooHighError,
  IntrinsicGasTooLowError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  NonceMaxValueError,
  NonceTooHighError,
  NonceTooLowError,
  TipAboveFeeCapError,
  TransactionRejectedRpcError,
  TransactionTypeNotSupportedError,
  type Transport,
} from 'viem'
import { containsNodeError, getNodeError } from 'viem/utils'

/** Nodes that did not take what was sent, by how sure that is. */
interface Failures {
  refused: number
  /** It may have arrived. */
  unsure: number
  /** Those of them that no payer can be the cause of. */
  ours: number
}

const sending = new AsyncLocalStorage<Failures>()

/** To a node whose refusals are counted for whoever sends by it. */
export function countingRefusals(inner: Transport): Transport {
  const { request: through } = inner({ retryCount: 0 })
  const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = through
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    try {
      return await ask({ method, ...(params !== undefined && { params }) })
    } catch (error) {
      const failures = sending.getStore()
      if (failures && SENDS.has(method)) count(failures, error)
      throw error
    }
  }
  return custom({ request }, { retryCount: 0 })
}

/** Sends one transaction, and tells afterwards whether it surely went nowhere, and whose fault that is. */
export async function sendCounted<Result>(
  send: () => Promise<Result>,
): Promise<
  | { readonly kind: 'sent'; readonly result: Result }
  | { readonly kind: 'failed'; readonly isRefused: boolean; readonly isOurs: boolean }
> {
  const failures: Failures = { refused: 0, unsure: 0, ours: 0 }
  try {
    return { kind: 'sent', result: await sending.run(failures, send) }
  } catch {
    const { refused, unsure, ours } = failures
    const isOurs = ours > 0 && ours === refused + unsure
    return { kind: 'failed', isRefused: refused > 0 && unsure === 0, isOurs }
  }
}

/** The one that charges are sent by: it is answered once a block has the transaction. */
export const SENDS_NOW = 'eth_sendRawTransactionSync'
export const SENDS: ReadonlySet<string> = new Set(['eth_sendRawTransaction', SENDS_NOW])

function count(failures: Failures, error: unknown): void {
  failures[isRefusal(error) ? 'refused' : 'unsure']++
  // What a node answers, and how late, may hang on what it was sent.
  const isAway =
    error instanceof BaseError && error.walk((cause) => cause instanceof HttpRequestError) !== null
  if (isAway || isUnknownMethod(error)) failures.ours++
}

export const isUnknownMethod = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => missing.some((code) => cause instanceof code)) !== null

const missing = [MethodNotFoundRpcError, MethodNotSupportedRpcError]

/** By code. */
const refusingCodes = [...missing, TransactionRejectedRpcError]
/** By viem's reading: each is found before a node takes a transaction. */
const refusingWords = [
  ...[InsufficientFundsError, NonceTooLowError, NonceTooHighError, NonceMaxValueError],
  ...[FeeCapTooLowError, FeeCapTooHighError, TipAboveFeeCapError, TransactionTypeNotSupportedError],
  ...[IntrinsicGasTooLowError, IntrinsicGasTooHighError],
]

function isRefusal(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  if (error.walk((cause) => refusingCodes.some((code) => cause instanceof code)) !== null) return true
  // A gateway's own words are none of a node.
  if (!containsNodeError(error)) return false
  const read = getNodeError(error, {})
  return refusingWords.some((words) => read instanceof words)
}

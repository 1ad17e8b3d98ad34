/** Nodes that surely did not take what they were sent, by their code or by viem's reading of their words. */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  BaseError,
  custom,
  FeeCapTooHighError,
  FeeCapTooLowError,
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
      if (failures && SENDS.has(method)) failures[isRefusal(error) ? 'refused' : 'unsure']++
      throw error
    }
  }
  return custom({ request }, { retryCount: 0 })
}

/** Sends one transaction, and tells afterwards whether it surely went nowhere. */
export async function sendCounted<Result>(
  send: () => Promise<Result>,
): Promise<
  | { readonly kind: 'sent'; readonly result: Result }
  | { readonly kind: 'failed'; readonly isRefused: boolean }
> {
  const failures: Failures = { refused: 0, unsure: 0 }
  try {
    return { kind: 'sent', result: await sending.run(failures, send) }
  } catch {
    return { kind: 'failed', isRefused: failures.refused > 0 && failures.unsure === 0 }
  }
}

export const SENDS: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])

/** By code. */
const refusingCodes = [MethodNotFoundRpcError, MethodNotSupportedRpcError, TransactionRejectedRpcError]
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

/**
 * A failure's lesson on the lists of receipts of an endpoint: which of them it does not tell, so that it is
 * asked for each receipt of those blocks, and goes on to be asked for other lists.
 */
import type { RpcError, RpcFailure } from '../client/errors.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'

/** Failures of a list of receipts that say nothing of the list. */
const ofAnyCall: ReadonlySet<RpcFailure> = new Set([
  'rate_limited',
  'unauthorized',
  'batch_refused',
  'unreachable',
])
/** Those after which the same list may come. */
const mayPass: ReadonlySet<RpcFailure> = new Set(['block_missing', 'pruned', 'overloaded', 'timed_out'])

/** Single receipts that failed for this reason may be had: what was learned of the list stays. */
const ofLoad: ReadonlySet<RpcFailure> = new Set([...ofAnyCall, 'overloaded', 'timed_out'])

export interface ListAttempt {
  /** The first block that is asked for. */
  readonly from: number
  /** Endpoints that told it once, but not its receipts. */
  readonly listless: Set<string>
}

/**
 * Whether blocks came and only the lists of their receipts did not, so that the endpoint is to be
 * asked for single ones. A list that may only be late is asked for once more before.
 */
export function learnFromLists(
  { from, listless }: ListAttempt,
  endpoint: Endpoint,
  { failure, failed }: RpcError,
  admission: Pick<Admission, 'note'>,
): boolean {
  if (!failed || failed.receiptsOf.length === 0 || ofAnyCall.has(failure)) return false
  if (failure === 'too_large' && failed.receiptsOf.length > 1) return false
  if (failure === 'method_missing' && failed.isEach && endpoint.deniedBlockReceipts()) {
    admission.note(
      `${endpoint.name} has no eth_getBlockReceipts: receipts are fetched one by one, which is slower`,
    )
    return true
  }
  if (mayPass.has(failure) && !listless.has(endpoint.name)) {
    if (failed.first === from) listless.add(endpoint.name)
    return false
  }
  for (const block of failed.receiptsOf) endpoint.lacking.note(block)
  return true
}

/** Whether an endpoint has no single receipts either: its list is asked for again. */
export const hasNoSingles = ({ failure }: RpcError): boolean => !ofLoad.has(failure)

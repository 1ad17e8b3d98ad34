/**
 * Filters of pending transactions: what waits is each node's own, so a filter lives at one endpoint.
 * Our row says at which, so that any process asks there; it ends with the endpoint.
 */
import { isRecord } from '#primitives.ts'
import type { Polled, RpcFilter } from '#rows/rpcFilters.ts'
import type { RpcContext } from './context.ts'
import { internalError, methodMissing, RpcFailureError } from './failure.ts'
import type { JsonRpcRequest } from './message.ts'

/** An endpoint that does not tell in this time what is new has lost its filters to us. */
const POLL_MS = 5_000

/** Makes one at an endpoint. @throws RpcFailureError where none has such filters */
export async function makePending(
  { method }: JsonRpcRequest,
  { relay, signal }: RpcContext,
): Promise<RpcFilter> {
  const made = await relay.askAnywhere({ method, params: '[]' }, signal)
  if (!made) throw new RpcFailureError(internalError())
  const { endpoint, answer } = made
  if (!answer.ok) throw new RpcFailureError(methodMissing(`${method} is not available`))
  const asked = { endpoint, id: JSON.parse(answer.text) }
  return { kind: 'pending', asked, toldBlock: -1, told: [] }
}

/** Hashes that came to its endpoint since the last poll. */
export async function pendingOf(filter: RpcFilter, context: RpcContext): Promise<Polled<string>> {
  const hashes = await askThere('eth_getFilterChanges', filter, context)
  return Array.isArray(hashes) ? { told: JSON.stringify(hashes), progress: filter } : 'ended'
}

export async function endPending(filter: RpcFilter, context: RpcContext): Promise<void> {
  await askThere('eth_uninstallFilter', filter, context)
}

async function askThere(
  method: string,
  { asked }: RpcFilter,
  { relay, clock, signal }: RpcContext,
): Promise<unknown> {
  const { endpoint, id } = isRecord(asked) ? asked : {}
  const late = new AbortController()
  const ended = AbortSignal.any([signal, late.signal])
  const end = () => late.abort()
  clock.sleep(POLL_MS, ended).then(end, end)
  try {
    const answer = await relay.askAt(String(endpoint), { method, params: JSON.stringify([id]) }, ended)
    return answer?.ok ? JSON.parse(answer.text) : null
  } catch (error) {
    signal.throwIfAborted()
    if (late.signal.aborted) return null
    throw error
  } finally {
    late.abort()
  }
}

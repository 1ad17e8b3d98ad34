/**
 * A node's answer to one call that is passed on: the bytes of its result or error, and what the
 * error means for the pool. Trouble of the provider is thrown, for its user is not ours to tell.
 */
import { jsonIn } from '#text/jsonIn.ts'
import { sliceMembers, sliceText } from '../read/json/jsonSlices.ts'
import type { HttpAnswer } from '../rpc/client/BodyCollector.ts'
import type { RpcClient } from '../rpc/client/client.ts'
import type { RpcFailure } from '../rpc/client/errors.ts'
import { classifyNodeError, type NodeError, readNodeError, saysReverted } from '../rpc/client/nodeErrors.ts'

export type RelayAnswer =
  | { readonly ok: true /** JSON of the result. */; readonly text: string }
  | {
      readonly ok: false
      /** JSON of the error, as the node wrote it. */
      readonly text: string
      readonly error: NodeError
      readonly failure: RpcFailure
    }

/** Failures that speak of the endpoint or of its provider. */
const ofProvider: ReadonlySet<RpcFailure> = new Set([
  'rate_limited',
  'overloaded',
  'timed_out',
  'unauthorized',
  'batch_refused',
  'malformed',
])

/** Failures that another node may not have. */
const elsewhere: ReadonlySet<RpcFailure> = new Set(['method_missing', 'pruned', 'block_missing', 'too_large'])

/** Whether another node may know better than this answer. */
export const mayDiffer = (answer: RelayAnswer): boolean => !answer.ok && elsewhere.has(answer.failure)

export const isMethodMissing = (answer: RelayAnswer): boolean =>
  !answer.ok && answer.failure === 'method_missing'

/** @throws RpcError for trouble of the endpoint or its provider */
export function readRelayed(answer: HttpAnswer, client: RpcClient): RelayAnswer {
  const read = readBody(answer, client)
  if (!read) throw answer.status === 200 ? client.error('malformed', 'no answer') : client.statusError(answer)
  if (read.ok || !ofProvider.has(read.failure)) return read
  throw answer.status === 200 ? client.error(read.failure, read.error.message) : client.statusError(answer)
}

/** A node's answer to a call, trouble of its provider included; null for a body that is none. */
export function readBody({ bytes, status }: HttpAnswer, client: RpcClient): RelayAnswer | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const members = membersOf(text)
  const error = members?.get('error')
  if (error && sliceText(text, error) !== 'null') return readError(client.blanked(sliceText(text, error)))
  const result = members?.get('result')
  return result && status === 200 ? { ok: true, text: sliceText(text, result) } : null
}

function membersOf(text: string) {
  try {
    return sliceMembers(text)
  } catch {
    return null
  }
}

function readError(text: string): RelayAnswer | null {
  const value = jsonIn(text)
  if (value === undefined) return null
  const error = readNodeError(value)
  return {
    ok: false,
    text,
    error,
    failure: isExecution(value, error) ? 'node_error' : classifyNodeError(error),
  }
}

/**
 * A contract's own words may sound like a gateway's; what came with data, or calls itself a
 * revert, is the contract's.
 */
function isExecution(value: unknown, error: NodeError): boolean {
  const { data } = Object(value)
  return error.code === 3 || (typeof data === 'string' && data.startsWith('0x')) || saysReverted(error)
}

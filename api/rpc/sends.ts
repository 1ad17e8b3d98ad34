/**
 * Sends are tried once and never hedged. A transaction's hash is known before it is sent, so that
 * an outcome nobody knows is looked up: a transaction that the pool has was sent.
 */
import { sliceItems, sliceText } from '#ingest/read/json/jsonSlices.ts'
import { isMethodMissing, type RelayAnswer } from '#ingest/relay/relayAnswer.ts'
import { mayBeSent } from '#ingest/rpc/client/nodeErrors.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import { answered, failed, type RpcOutcome } from './answer.ts'
import { newest } from './blocks.ts'
import { ask, heightIn, type RpcContext } from './context.ts'
import { internalError, invalidParams, RpcFailureError } from './failure.ts'
import type { JsonRpcRequest } from './message.ts'

/** A receipt of a transaction that is known to be sent is waited for this long. */
const RECEIPT_MS = 20_000
const RECEIPT_PAUSE_MS = 100
/** Looks for a transaction whose outcome nobody knows: a pool may show it a moment later. */
const LOOKS_MAX = 3
const LOOK_PAUSE_MS = 200

export async function send(call: JsonRpcRequest, context: RpcContext): Promise<RpcOutcome> {
  const hash = hashOf(call.params)
  const answer = await context.relay.askOnce(call, context.signal)
  if (answer && (isMethodMissing(answer) || !isDoubtful(answer))) return await told(answer, context)
  const isKnown = hash !== null && (await isSent(hash, context))
  if (!isKnown) return failed(failureOf(answer, hash), 'node')
  if (call.method === 'eth_sendRawTransaction') return answered(`"${hash}"`, 'node')
  return (await receiptOf(hash, context)) ?? failed(internalError({ transactionHash: hash }), 'node')
}

async function told({ ok, text }: RelayAnswer, { relay }: RpcContext): Promise<RpcOutcome> {
  const outcome: RpcOutcome = { kind: ok ? 'result' : 'error', text, source: 'node' }
  // eth_sendRawTransactionSync answers with a receipt.
  const height = heightIn(outcome, 'blockNumber')
  if (height !== null) await relay.admits(height)
  return outcome
}

/** A transaction that may be there already, and trouble between us and the nodes. */
const isDoubtful = (answer: RelayAnswer): boolean =>
  !answer.ok && (answer.failure !== 'node_error' || mayBeSent(answer.error))

async function isSent(hash: string, { relay, clock, signal }: RpcContext): Promise<boolean> {
  const params = JSON.stringify([hash])
  for (let look = 1; ; look++) {
    if (await relay.isKnown({ method: 'eth_getTransactionByHash', params }, signal)) return true
    if (look === LOOKS_MAX) return false
    await clock.sleep(LOOK_PAUSE_MS, signal)
  }
}

async function receiptOf(hash: string, context: RpcContext): Promise<RpcOutcome | null> {
  const { clock, signal } = context
  const untilMs = clock.monotonic() + RECEIPT_MS
  const call = { method: 'eth_getTransactionReceipt', params: JSON.stringify([hash]) }
  while (clock.monotonic() < untilMs) {
    const receipt = await ask(call, newest, context, 'blockNumber')
    if (receipt.kind === 'result' && receipt.text !== 'null') return receipt
    await clock.sleep(RECEIPT_PAUSE_MS, signal)
  }
  return null
}

/** A node's own words where it is the one that refused; trouble of a provider is not told. */
function failureOf(answer: RelayAnswer | null, hash: string | null) {
  const data = hash === null ? undefined : { transactionHash: hash }
  if (!answer || answer.ok || answer.failure !== 'node_error') return internalError(data)
  const { code, message } = answer.error
  return { code, message, ...(data && { data }) }
}

/** Blob transactions come with their blobs, which their hash does not cover. */
const BLOB_TYPE = '0x03'

/** @throws RpcFailureError for what is no transaction */
function hashOf(params: string): string | null {
  const [first] = sliceItems(params) ?? []
  const raw: unknown = first && JSON.parse(sliceText(params, first))
  if (typeof raw !== 'string' || !/^0x([0-9a-f]{2})+$/i.test(raw))
    throw new RpcFailureError(invalidParams('the transaction is not 0x and hex bytes'))
  return raw.startsWith(BLOB_TYPE) ? null : keccak256Hex(Buffer.from(raw.slice(2), 'hex'))
}

/**
 * A JSON-RPC body as calls: ids and parameters stay the text they came as, so that integers past
 * 2^53 and any spelling of an id return unchanged.
 */

import { ApiError } from '#http/errors.ts'
import { assertDepth, isWellFormedJson } from '#http/request/json.ts'
import type { Slice } from '#ingest/read/json/JsonCursor.ts'
import { sliceItems, sliceMembers, sliceText } from '#ingest/read/json/jsonSlices.ts'
import { invalidParams, invalidRequest, type RpcFailure } from './failure.ts'

export interface JsonRpcRequest {
  /** JSON of the id; null for a notification, which gets no answer. */
  readonly id: string | null
  readonly method: string
  /** JSON of a list. */
  readonly params: string
}

/** An entry that is no call, and what is answered to it. */
export interface RpcMistake {
  readonly id: string
  readonly failure: RpcFailure
}

export interface RpcMessage {
  readonly isBatch: boolean
  readonly entries: readonly (JsonRpcRequest | RpcMistake)[]
}

/** Calls in one request: as many as nodes answer within a request's time. */
export const BATCH_CALLS_MAX = 50
export const BODY_BYTES_MAX = 1024 * 1024

export const isCall = (entry: JsonRpcRequest | RpcMistake): entry is JsonRpcRequest => 'method' in entry

/** @throws ApiError body_invalid for what is no JSON, body_too_large for too many calls */
export function readMessage(text: string): RpcMessage {
  assertDepth(text)
  const value = parsed(text)
  if (!Array.isArray(value)) return { isBatch: false, entries: [readEntry(value, text)] }
  if (value.length > BATCH_CALLS_MAX)
    throw new ApiError('body_too_large', `A batch has at most ${BATCH_CALLS_MAX} calls.`)
  const items = sliceItems(text) ?? []
  const entries = value.map((item: unknown, index) => readEntry(item, piece(text, items[index])))
  if (entries.length === 0)
    return { isBatch: false, entries: [{ id: 'null', failure: invalidRequest('an empty batch') }] }
  return { isBatch: true, entries }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError('body_invalid', 'The body is not JSON.', { cause })
  }
}

function readEntry(value: unknown, text: string): JsonRpcRequest | RpcMistake {
  const members = sliceMembers(text)
  if (!members || typeof value !== 'object' || value === null) return mistake('a call is an object')
  const { jsonrpc, id, method, params }: Record<string, unknown> = { ...value }
  const idText = isId(id) ? piece(text, members.get('id')) : 'null'
  if (!isWellFormedJson(idText)) return mistake('an id holds NUL or half a character')
  if (id !== undefined && !isId(id)) return mistake('an id is a text, a number or null')
  if (jsonrpc !== '2.0') return mistake('`jsonrpc` is not "2.0"', idText)
  if (typeof method !== 'string') return mistake('`method` is not a text', idText)
  if (params !== undefined && params !== null && !Array.isArray(params))
    return { id: idText, failure: invalidParams('`params` is not a list') }
  const paramsText = Array.isArray(params) ? piece(text, members.get('params')) : '[]'
  if (!isWellFormedJson(paramsText))
    return { id: idText, failure: invalidParams('a text holds NUL or half a character') }
  return { id: id === undefined ? null : idText, method, params: paramsText }
}

const isId = (id: unknown): boolean => id === null || typeof id === 'string' || typeof id === 'number'

const mistake = (problem: string, id = 'null'): RpcMistake => ({ id, failure: invalidRequest(problem) })

const piece = (text: string, slice: Slice | undefined): string => (slice ? sliceText(text, slice) : 'null')

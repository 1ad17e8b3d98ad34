/**
 * Takes a range's answer apart: the bytes of one JSON-RPC batch response into each block's two
 * results, still unchecked. Whatever reads the bytes, JSON.parse or a scanner, stays behind
 * `parseRange`.
 */

import type { BlockRange } from '#ingest/range.ts'
import { isNestedTooDeep } from '#ingest/read/json/nesting.ts'
import { type NodeAnswerCode, NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import type { BlockAnswer } from '#ingest/read/parsedAnswer.ts'
import { isRecord } from '#primitives.ts'
import { parseExact } from './exactJson.ts'

/**
 * One answer per block of the range, ascending. The items may come in any order; each must be there
 * once and no other.
 * @throws NodeAnswerError when the bytes are no such batch, with the first height concerned.
 */
export function parseRange(bytes: Uint8Array, range: BlockRange): readonly BlockAnswer[] {
  const blocks = range.to - range.from + 1
  const results = resultsById(parseJson(bytes, range), 2 * blocks, range)
  return Array.from({ length: blocks }, (_, k) => ({
    number: range.from + k,
    block: results[2 * k],
    receipts: results[2 * k + 1],
  }))
}

function parseJson(bytes: Uint8Array, range: BlockRange): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  if (isNestedTooDeep(text)) throw new NodeAnswerError('json_invalid', '', range.from)
  try {
    return parseExact(text)
  } catch (cause) {
    // A body cut short ends up here. The parser's message quotes the body, so it stays out of ours.
    throw new NodeAnswerError('json_invalid', '', range.from, { cause })
  }
}

function resultsById(items: unknown, count: number, range: BlockRange): readonly unknown[] {
  const fail = (code: NodeAnswerCode, field: string, id = 0): never => {
    throw new NodeAnswerError(code, field, range.from + Math.floor(id / 2))
  }
  // A single object instead of a list is a node's refusal of the whole batch.
  if (!Array.isArray(items)) return fail('item_failed', 'error')
  const results: unknown[] = new Array(count)
  const seen = new Uint8Array(count)
  for (const [position, item] of items.entries()) {
    if (!isRecord(item)) return fail('shape_invalid', `[${position}]`)
    const { id } = item
    if (typeof id !== 'number' || !(id in seen)) return fail('shape_invalid', `[${position}].id`)
    if (seen[id] === 1) fail('item_duplicate', `[${position}].id`, id)
    if ('error' in item && item['error'] !== null) fail('item_failed', `[${position}].error`, id)
    if (!('result' in item)) fail('shape_invalid', `[${position}].result`, id)
    seen[id] = 1
    results[id] = item['result']
  }
  const missing = seen.indexOf(0)
  if (missing >= 0) fail('item_missing', `[id=${missing}]`, missing)
  return results
}

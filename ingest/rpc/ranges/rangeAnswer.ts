import { type BlockRange, blockCount } from '../../range.ts'
import { callText, type RpcClient } from '../client/client.ts'
import type { FailedItems, RpcError, RpcFailure } from '../client/errors.ts'
import { rpcQuantity } from '../client/parse.ts'

/**
 * The batch that asks for a range: block k with id 2k, its receipts with id 2k + 1 (the shape of
 * RawRange).
 */
export function rangeBody(range: BlockRange): string {
  const calls: string[] = []
  for (let k = 0; k < blockCount(range); k++) {
    const number = rpcQuantity(range.from + k)
    calls.push(
      callText(2 * k, { method: 'eth_getBlockByNumber', params: [number, true] }),
      callText(2 * k + 1, { method: 'eth_getBlockReceipts', params: [number] }),
    )
  }
  return `[${calls.join(',')}]`
}

/** Enough to see the first colon of an answer. */
const STYLE_BYTES = 256

const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d

/**
 * Up to this size an answer with errors in it is parsed to find them; the blocks of a longer one
 * are asked for again.
 */
const PARSED_BYTES_MAX = 16 * 1024 * 1024

/**
 * Looks at the bytes of a batch answer without parsing them: the first and the last byte, and
 * whether any item is an error or null. Everything else is checked in a worker. A quote within a
 * JSON text is escaped, so the searched texts cannot occur inside a value.
 * @throws RpcError
 */
export function assertRangeAnswer(
  bytes: Uint8Array<ArrayBuffer>,
  range: BlockRange,
  client: RpcClient,
): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (text[firstVisible(text)] !== BRACKET_OPEN) throw notAList(text, client)
  if (text[lastVisible(text)] !== BRACKET_CLOSE) throw client.error('malformed', 'the answer is cut off')
  if (hasOnlyResults(text, 2 * blockCount(range))) return
  // A writer that puts spaces behind colons does so everywhere, also in the first item.
  const spaced = text.subarray(0, STYLE_BYTES).includes('": ')
  const hasNull = text.includes(spaced ? '"result": null' : '"result":null')
  if (!hasNull && !text.includes('"error":')) return
  const error = itemError(text, range, client)
  if (error) throw error
}

/**
 * Whether there are so many items, and each begins as those of usual nodes do and has a result that
 * is an object or a list. The long text between two items is found three times as fast as the short
 * ones that tell of errors.
 */
function hasOnlyResults(text: Buffer, items: number): boolean {
  if (text[0] !== BRACKET_OPEN) return false
  for (let at = 1, seen = 1; ; seen++) {
    if (!holdsAt(text, at, itemStart)) return false
    let digit = at + itemStart.length
    while (isDigit(text[digit])) digit++
    const value = digit + beforeResult.length
    if (!holdsAt(text, digit, beforeResult)) return false
    if (text[value] !== OBJECT_OPEN && text[value] !== BRACKET_OPEN) return false
    const between = text.indexOf(betweenItems, value)
    if (between < 0) return seen === items
    at = between + 2
  }
}

const holdsAt = (text: Buffer, at: number, part: Buffer) =>
  at + part.length <= text.length && text.compare(part, 0, part.length, at, at + part.length) === 0

const itemStart = Buffer.from('{"jsonrpc":"2.0","id":')
const betweenItems = Buffer.concat([Buffer.from('},'), itemStart])
const beforeResult = Buffer.from(',"result":')
const OBJECT_OPEN = 0x7b

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39

function notAList(text: Buffer, client: RpcClient): RpcError {
  try {
    return client.batchError(JSON.parse(text.subarray(0, PARSED_BYTES_MAX).toString('utf8')))
  } catch (error) {
    return client.error('malformed', 'the answer is not JSON', { cause: error })
  }
}

/**
 * The first remedy if items failed for different reasons: changing the request, then the endpoint, then
 * waiting.
 */
const urgency: readonly RpcFailure[] = [
  'method_missing',
  'batch_refused',
  'too_large',
  'pruned',
  'unauthorized',
  'rate_limited',
  'overloaded',
  'block_missing',
]

/** The error to act on first; undefined when a server writes `"error":null` beside every result. */
function itemError(text: Buffer, range: BlockRange, client: RpcClient): RpcError | undefined {
  if (text.length > PARSED_BYTES_MAX) return tooLong(range, client)
  const failed = failedItems(parsedItems(text, client))
  const rank = ({ error }: FailedItem) => {
    const { failure } = client.nodeError(error)
    return (urgency.indexOf(failure) + urgency.length + 1) % (urgency.length + 1)
  }
  const [first] = failed.toSorted((a, b) => rank(a) - rank(b))
  return first && client.nodeError(first.error, { failed: failedIn(failed, range) })
}

/** A too long answer about one block says that the block is there. */
function tooLong({ from, to }: BlockRange, client: RpcClient): RpcError {
  const options = from === to ? { failed: { first: from, receiptsOf: [from], isEach: true } } : {}
  return client.error('too_large', 'an answer with errors, too long to parse', options)
}

function parsedItems(text: Buffer, client: RpcClient): readonly unknown[] {
  try {
    const items: unknown = JSON.parse(text.toString('utf8'))
    return Array.isArray(items) ? items : []
  } catch (error) {
    throw client.error('malformed', 'the answer is not JSON', { cause: error })
  }
}

interface FailedItem {
  readonly id: number
  /** As the node tells it. */
  readonly error: unknown
}

/** Null is an answer that the node has no such block, or not its receipts. */
function failedItems(items: readonly unknown[]): readonly FailedItem[] {
  return items.flatMap((item) => {
    const { id, error, result } = Object(item)
    if (error != null) return [{ id: Number(id), error }]
    if (result !== null) return []
    return [{ id: Number(id), error: Number(id) % 2 === 1 ? noReceipts : noBlock }]
  })
}

const noBlock = { code: -32001, message: 'null in place of a block' }
const noReceipts = { code: -32001, message: 'null in place of the receipts of a block' }

function failedIn(failed: readonly FailedItem[], { from, to }: BlockRange): FailedItems {
  const blocks = failed.map(({ id }) => Math.min(to, from + (Math.floor(id / 2) || 0)))
  const isOfReceipts = failed.every(({ id }) => id % 2 === 1)
  const isEach = blocks.length === to - from + 1
  return { first: Math.min(...blocks), receiptsOf: isOfReceipts ? blocks : [], isEach }
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function firstVisible(text: Buffer): number {
  let at = 0
  while (isSpace(text[at])) at++
  return at
}

function lastVisible(text: Buffer): number {
  let at = text.length - 1
  while (isSpace(text[at])) at--
  return at
}

/**
 * The slow way around a missing eth_getBlockReceipts: blocks first, then the receipts of their
 * transactions, each by its hash. All of a block may be as long as any answer, so nothing of it is
 * parsed here: the node's texts are cut out and put together, for a worker to read.
 */
import { setImmediate } from 'node:timers/promises'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { type BlockRange, blockCount } from '../../range.ts'
import { sliceItems, sliceMembers, sliceText } from '../../read/json/jsonSlices.ts'
import { isAbsent } from '../../read/shape.ts'
import { spelledQuantity } from '../../read/spelling.ts'
import { callText, type RpcClient, SINGLES_AT_ONCE } from '../client/client.ts'
import { RpcError } from '../client/errors.ts'
import { parseBlockRef, rpcQuantity } from '../client/parse.ts'
import type { RangeBudget } from './RangeBudget.ts'

/**
 * Calls in one request when receipts are asked for one by one; more than a hundred are refused by
 * many gateways.
 */
const RECEIPTS_PER_BATCH = 100
/** A longer answer of several receipts is asked for in halves: to cut it up takes 10 ms. */
const BATCH_BYTES_MAX = 2 * 1024 * 1024

export interface SinglyForm {
  readonly batches: boolean
  /** True: a receipt that the node does not have of its block is null in the answer. */
  readonly mayLackReceipts?: boolean
}

/** The bytes of a range's answer. @throws RpcError */
export async function askReceiptsSingly(
  client: RpcClient,
  range: BlockRange,
  form: SinglyForm,
  budget: RangeBudget,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const numbers = Array.from({ length: blockCount(range) }, (_, k) => range.from + k)
  const listed = await askLists(client, numbers, form.batches, budget, signal)
  const blocks = await mapAtMost(
    SINGLES_AT_ONCE,
    numbers,
    (number, ended) => {
      const call = { method: 'eth_getBlockByNumber', params: [rpcQuantity(number), true] }
      return postOne(client, callText(2 * (number - range.from), call), budget, ended)
    },
    signal,
  )
  const { mayLackReceipts: mayLack = false } = form
  const pieces: Uint8Array[] = []
  for (const [k, { hash, transactions }] of listed.entries()) {
    pieces.push(Buffer.from(k === 0 ? '[' : ','), blocks[k] ?? Buffer.from('null'))
    pieces.push(Buffer.from(`,{"jsonrpc":"2.0","id":${2 * k + 1},"result":[`))
    for (let at = 0; at < transactions.length; at += RECEIPTS_PER_BATCH) {
      const asked = transactions.slice(at, at + RECEIPTS_PER_BATCH)
      const receipts = await askReceipts(client, asked, form.batches, budget, signal)
      const told = receipts.map((text) =>
        mayLack || !names(hash, text) ? receiptOf(hash, text, mayLack) : text,
      )
      if (!mayLack && told.includes('null')) throw client.error('block_missing', 'null in place of a receipt')
      pieces.push(Buffer.from((at > 0 ? ',' : '') + told.join(','), 'latin1'))
    }
    pieces.push(Buffer.from(']}'))
  }
  return await joinPieces([...pieces, Buffer.from(']')])
}

/** Some milliseconds' copying, most of it for memory that is touched for the first time. */
const COPIED_BYTES = 2 * 1024 * 1024

/** One buffer of its own, to be transferred, without holding the thread up for long. */
async function joinPieces(pieces: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  let pausedAt = 0
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += COPIED_BYTES) {
      const part = piece.subarray(from, from + COPIED_BYTES)
      joined.set(part, at)
      at += part.length
      if (at - pausedAt < COPIED_BYTES) continue
      pausedAt = at
      await setImmediate()
    }
  return joined
}

interface ListedBlock {
  readonly hash: unknown
  readonly transactions: readonly string[]
}

/** The hashes of each block's transactions; the blocks themselves are too long to look for them. */
async function askLists(
  client: RpcClient,
  numbers: readonly number[],
  batches: boolean,
  budget: RangeBudget,
  signal?: AbortSignal,
): Promise<readonly ListedBlock[]> {
  const method = 'eth_getBlockByNumber'
  const ask = async (number: number, ended: AbortSignal) =>
    await client.call(method, [rpcQuantity(number), false], ended, budget)
  const told: unknown[] = []
  for (let at = 0; batches && at < numbers.length; at += RECEIPTS_PER_BATCH) {
    const piece = numbers.slice(at, at + RECEIPTS_PER_BATCH)
    const calls = piece.map((number) => ({ method, params: [rpcQuantity(number), false] }))
    for (const answer of await client.batch(calls, signal, budget)) {
      if (!answer.ok) throw answer.error
      told.push(answer.result)
    }
  }
  if (!batches) told.push(...(await mapAtMost(SINGLES_AT_ONCE, numbers, ask, signal)))
  return told.map((block) => {
    const transactions = transactionHashes(block, client)
    budget.spendReceipts(transactions.length, Object(block).gasLimit)
    return { hash: Object(block).hash, transactions }
  })
}

/** Nodes were seen that tell whole transactions, whatever was asked for. */
function transactionHashes(block: unknown, client: RpcClient): readonly string[] {
  if (!parseBlockRef(block, client)) throw client.error('block_missing', 'null in place of a block')
  const { transactions, gasUsed } = Object(block)
  // As ingest/read/block.ts reads it.
  if (isAbsent(transactions) && spelledQuantity(gasUsed) === '0x0') return []
  if (!Array.isArray(transactions)) throw client.error('malformed', 'a block without a list of transactions')
  return transactions.map((tx: unknown) => (typeof tx === 'string' ? tx : String(Object(tx).hash)))
}

/** The texts of receipts, `null` among them. */
async function askReceipts(
  client: RpcClient,
  hashes: readonly string[],
  batches: boolean,
  budget: RangeBudget,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  if (!batches)
    return await mapAtMost(
      SINGLES_AT_ONCE,
      hashes,
      (hash, ended) => askOne(client, hash, budget, ended),
      signal,
    )
  return await askSome(client, hashes, budget, signal)
}

/** In one batch, or in halves where that is too long. */
async function askSome(
  client: RpcClient,
  hashes: readonly string[],
  budget: RangeBudget,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const [only] = hashes
  if (only !== undefined && hashes.length === 1) return [await askOne(client, only, budget, signal)]
  const calls = hashes.map((hash, id) => callText(id, receiptCall(hash)))
  const bytesMax = Math.min(budget.bytesMax, BATCH_BYTES_MAX)
  try {
    const bytes = await client.post(`[${calls.join(',')}]`, bytesMax, signal, calls.length)
    budget.spend(bytes.length)
    return cutBatch(latin1(bytes), calls.length, client)
  } catch (error) {
    const isLong = error instanceof RpcError && error.failure === 'too_large'
    if (!isLong || bytesMax < BATCH_BYTES_MAX) throw error
    const half = Math.ceil(hashes.length / 2)
    const first = await askSome(client, hashes.slice(0, half), budget, signal)
    return [...first, ...(await askSome(client, hashes.slice(half), budget, signal))]
  }
}

async function askOne(client: RpcClient, hash: string, budget: RangeBudget, signal?: AbortSignal) {
  const text = latin1(await postOne(client, callText(0, receiptCall(hash)), budget, signal))
  // As usual nodes write it, nothing has to be looked for.
  if (text.startsWith(usualStart) && text.endsWith('}')) return text.slice(usualStart.length, -1)
  return resultOf(text, sliceMembers(text), client)
}

async function postOne(client: RpcClient, call: string, budget: RangeBudget, signal?: AbortSignal) {
  const bytes = await client.post(call, budget.bytesMax, signal)
  budget.spend(bytes.length)
  return bytes
}

const receiptCall = (hash: string) => ({ method: 'eth_getTransactionReceipt', params: [hash] })
const usualStart = '{"jsonrpc":"2.0","id":0,"result":'

/** One character a byte, and back: nothing is lost whatever the encoding. */
const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** The results of a batch by id. @throws RpcError */
function cutBatch(text: string, count: number, client: RpcClient): readonly string[] {
  const items = sliceItems(text)
  if (items === null) throw client.batchError(parsed(text, client))
  const results = new Map<string, string>()
  for (const { from } of items) {
    const members = sliceMembers(text, from)
    const id = members?.get('id')
    const result = resultOf(text, members, client)
    if (id) results.set(sliceText(text, id), result)
  }
  return Array.from({ length: count }, (_, id) => {
    const result = results.get(String(id))
    if (result === undefined || items.length !== count)
      throw client.error('malformed', `${items.length} answers to a batch of ${count}`)
    return result
  })
}

function resultOf(text: string, members: ReturnType<typeof sliceMembers>, client: RpcClient): string {
  const [error, result] = [members?.get('error'), members?.get('result')]
  const problem = error && sliceText(text, error)
  if (problem !== undefined && problem !== 'null') throw client.nodeError(parsed(problem, client))
  if (!result) throw client.error('malformed', 'an answer without result')
  return sliceText(text, result)
}

function parsed(text: string, client: RpcClient): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw client.error('malformed', 'the answer is not JSON', { cause: error })
  }
}

/** As usual nodes write it, in the receipt or one of its logs: found at the speed of memory. */
const names = (hash: unknown, text: string): boolean => text.includes(`"blockHash":${JSON.stringify(hash)}`)

/**
 * Null where the transaction was run in another block, or in none yet: a list may name one that was
 * not run in its own.
 */
function receiptOf(hash: unknown, text: string, mayLack: boolean): string {
  const told = sliceMembers(text)?.get('blockHash')
  if (!told) return mayLack ? 'null' : text
  return sliceText(text, told).toLowerCase() === JSON.stringify(hash).toLowerCase() ? text : 'null'
}

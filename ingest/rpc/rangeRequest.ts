import { mapAtMost } from '#mapAtMost.ts'
import { type BlockRange, blockCount } from '../range.ts'
import { callText, type RpcClient, SINGLES_AT_ONCE } from './client.ts'
import { parseBlockRef, quantity } from './parse.ts'
import { assertRangeAnswer, rangeBody } from './rangeAnswer.ts'
import { RangeBudget } from './rangeBudget.ts'

export interface RequestForm {
  /** False where eth_getBlockReceipts is unknown or left some out: they are asked for one by one. */
  readonly blockReceipts: boolean
  /** False where every call has to be a request of its own. */
  readonly batches: boolean
  /** True: a receipt that the node does not have of its block is null in the answer. */
  readonly mayLackReceipts?: boolean
}

/**
 * Calls in one request when receipts are asked for one by one; more than a hundred are refused by
 * many gateways.
 */
const RECEIPTS_PER_BATCH = 100

/**
 * Fetches the bytes of one range, in the shape of RawRange whatever the endpoint can do. The answer
 * is complete as far as its outside tells. @throws RpcError
 */
export async function requestRange(
  client: RpcClient,
  range: BlockRange,
  form: RequestForm,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!form.blockReceipts) return await composeFromReceipts(client, range, form, signal)
  if (!form.batches) return await composeFromSingles(client, range, signal)
  const { bytesMax } = new RangeBudget(client, blockCount(range))
  const bytes = await client.post(rangeBody(range), bytesMax, signal, 2 * blockCount(range))
  assertRangeAnswer(bytes, range, client)
  return bytes
}

/** Answers of single calls, put between brackets: they carry the ids the batch would have had. */
async function composeFromSingles(client: RpcClient, range: BlockRange, signal?: AbortSignal) {
  const calls = Array.from({ length: 2 * blockCount(range) }, (_, id) => {
    const number = quantity(range.from + Math.floor(id / 2))
    return id % 2 === 0
      ? callText(id, { method: 'eth_getBlockByNumber', params: [number, true] })
      : callText(id, { method: 'eth_getBlockReceipts', params: [number] })
  })
  const budget = new RangeBudget(client, blockCount(range))
  const ask = async (call: string, ended: AbortSignal) => {
    const answer = await client.post(call, budget.bytesMax, ended)
    budget.spend(answer.length)
    return answer
  }
  const answers = await mapAtMost(SINGLES_AT_ONCE, calls, ask, signal)
  const bytes = joinAnswers(answers)
  assertRangeAnswer(bytes, range, client)
  return bytes
}

const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d
const COMMA = 0x2c

function joinAnswers(answers: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  // Not Buffer.concat: that may take a piece of a shared pool, and this buffer is going to be
  // transferred.
  const joined = new Uint8Array(answers.reduce((sum, { length }) => sum + length + 1, 1))
  let at = 0
  for (const answer of answers) {
    joined[at] = at === 0 ? BRACKET_OPEN : COMMA
    joined.set(answer, at + 1)
    at += answer.length + 1
  }
  joined[at] = BRACKET_CLOSE
  return joined
}

/**
 * The slow way around a missing eth_getBlockReceipts: blocks first, then the receipts of their
 * transactions. The node's objects are written out again unchanged; numbers in them are hex texts,
 * so nothing is lost on the way.
 */
async function composeFromReceipts(
  client: RpcClient,
  range: BlockRange,
  { batches, mayLackReceipts = false }: RequestForm,
  signal?: AbortSignal,
) {
  const ask = batches ? askBatched : askSingly
  const budget = new RangeBudget(client, blockCount(range))
  const numbers = Array.from({ length: blockCount(range) }, (_, k) => quantity(range.from + k))
  const blocks = await ask(
    client,
    budget,
    'eth_getBlockByNumber',
    numbers.map((number) => [number, true]),
    signal,
  )
  const hashes = blocks.map((block) => transactionHashes(block, client))
  hashes.forEach((ofBlock, k) => {
    budget.spendReceipts(ofBlock.length, Object(blocks[k]).gasLimit)
  })
  const told = await ask(
    client,
    budget,
    'eth_getTransactionReceipt',
    hashes.flat().map((hash) => [hash]),
    signal,
  )
  if (!mayLackReceipts && told.includes(null))
    throw client.error('block_missing', 'null in place of a receipt')
  let next = 0
  const items = blocks.flatMap((block, k) => {
    const ofBlock = told.slice(next, next + (hashes[k]?.length ?? 0))
    next += ofBlock.length
    const receipts = mayLackReceipts ? ofBlock.map((receipt) => receiptOf(block, receipt)) : ofBlock
    return [
      { jsonrpc: '2.0', id: 2 * k, result: block },
      { jsonrpc: '2.0', id: 2 * k + 1, result: receipts },
    ]
  })
  return new TextEncoder().encode(JSON.stringify(items))
}

/** Null where the transaction was run in another block: a list may name one that was not run in its own. */
const receiptOf = (block: unknown, receipt: unknown): unknown =>
  Object(receipt).blockHash === Object(block).hash ? receipt : null

function transactionHashes(block: unknown, client: RpcClient): readonly string[] {
  if (!parseBlockRef(block, client)) throw client.error('block_missing', 'null in place of a block')
  const transactions: unknown = Object(block).transactions
  if (!Array.isArray(transactions)) throw client.error('malformed', 'a block without a list of transactions')
  return transactions.map((tx: unknown) => String(Object(tx).hash))
}

async function askBatched(
  client: RpcClient,
  budget: RangeBudget,
  method: string,
  params: readonly unknown[][],
  signal?: AbortSignal,
) {
  const results: unknown[] = []
  for (let at = 0; at < params.length; at += RECEIPTS_PER_BATCH) {
    const calls = params.slice(at, at + RECEIPTS_PER_BATCH).map((one) => ({ method, params: one }))
    for (const answer of await client.batch(calls, signal, budget)) {
      if (!answer.ok) throw answer.error
      results.push(answer.result)
    }
  }
  return results
}

const askSingly = (
  client: RpcClient,
  budget: RangeBudget,
  method: string,
  params: readonly unknown[][],
  signal?: AbortSignal,
) => mapAtMost(SINGLES_AT_ONCE, params, (one, ended) => client.call(method, one, ended, budget), signal)

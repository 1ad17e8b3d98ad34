import { mapAtMost } from '#runtime/mapAtMost.ts'
import { type BlockRange, blockCount } from '../../range.ts'
import { callText, type RpcClient, SINGLES_AT_ONCE } from '../client/client.ts'
import { rpcQuantity } from '../client/parse.ts'
import { RangeBudget } from './RangeBudget.ts'
import { assertRangeAnswer, rangeBody } from './rangeAnswer.ts'
import { askReceiptsSingly } from './receiptsSingly.ts'

export interface RequestForm {
  /** False where eth_getBlockReceipts is unknown or left some out: they are asked for one by one. */
  readonly blockReceipts: boolean
  /** False where every call has to be a request of its own. */
  readonly batches: boolean
  /** True: a receipt that the node does not have of its block is null in the answer. */
  readonly mayLackReceipts?: boolean
}

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
  if (!form.blockReceipts) {
    const budget = new RangeBudget(client, blockCount(range))
    const bytes = await askReceiptsSingly(client, range, form, budget, signal)
    assertRangeAnswer(bytes, range, client)
    return bytes
  }
  if (!form.batches) return await composeFromSingles(client, range, signal)
  const { bytesMax } = new RangeBudget(client, blockCount(range))
  const bytes = await client.post(rangeBody(range), bytesMax, signal, 2 * blockCount(range))
  assertRangeAnswer(bytes, range, client)
  return bytes
}

/** Answers of single calls, put between brackets: they carry the ids the batch would have had. */
async function composeFromSingles(client: RpcClient, range: BlockRange, signal?: AbortSignal) {
  const calls = Array.from({ length: 2 * blockCount(range) }, (_, id) => {
    const number = rpcQuantity(range.from + Math.floor(id / 2))
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
  const bytes = joinAnswers(await mapAtMost(SINGLES_AT_ONCE, calls, ask, signal))
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

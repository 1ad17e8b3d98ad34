/** Blocks as a node answers them. */
import { type DevRpc, type DevRpcAnswer, type DevRpcCall, hexQuantity } from '#local/devchain/DevRpc.ts'
import type { RecordedBlock } from '../recordings.ts'

/** The blocks `from` to `to` in one request; none when `to` is below `from`. */
export async function fetchBlocks(rpc: DevRpc, from: number, to: number): Promise<RecordedBlock[]> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => hexQuantity(from + k))
  const answers = await rpc.batch(
    numbers.flatMap((number): DevRpcCall[] => [
      ['eth_getBlockByNumber', number, true],
      ['eth_getBlockReceipts', number],
    ]),
  )
  const results = answers.map((answer) => resultOf(answer, `blocks ${from} to ${to}`))
  return numbers.map((_, k) => ({ block: results[2 * k], receipts: results[2 * k + 1] }))
}

function resultOf(answer: DevRpcAnswer, where: string): unknown {
  const reason = 'error' in answer ? answer.error : 'null'
  if ('error' in answer || !answer.result) throw new Error(`${where}: ${reason}`)
  return answer.result
}

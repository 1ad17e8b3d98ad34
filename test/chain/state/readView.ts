/** Views of contracts, many in one request. */
import { type Abi, decodeFunctionResult, encodeFunctionData } from 'viem'
import { type DevRpc, type DevRpcAnswer, hexQuantity } from '#local/devchain/DevRpc.ts'
import type { Hex } from '#primitives.ts'

export interface View {
  readonly abi: Abi
  readonly functionName: string
}

export interface Asked<Item> {
  readonly to: Hex
  readonly args: readonly unknown[]
  /** Handed on with the answer. */
  readonly item: Item
}

/** Calls of one request. */
const CALLS = 500

/** Asks a view at a block; what is no such contract is left out. */
export async function readView<Item>(
  rpc: DevRpc,
  block: number,
  view: View,
  asked: readonly Asked<Item>[],
  use: (item: Item, answer: unknown) => void,
): Promise<void> {
  for (let start = 0; start < asked.length; start += CALLS) {
    const part = asked.slice(start, start + CALLS)
    const answers = await rpc.batch(
      part.map(({ to, args }) => [
        'eth_call',
        { to, data: encodeFunctionData({ ...view, args }) },
        hexQuantity(block),
      ]),
    )
    for (const [index, { item }] of part.entries()) {
      const answer = decoded(view, answers[index])
      if (answer !== undefined) use(item, answer)
    }
  }
}

function decoded(view: View, answer: DevRpcAnswer | undefined): unknown {
  const data = answer && 'result' in answer ? String(answer.result) : '0x'
  if (data === '0x') return undefined
  try {
    return decodeFunctionResult({ ...view, data: `0x${data.slice(2)}` })
  } catch {
    return undefined
  }
}

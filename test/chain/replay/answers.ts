/** The parts of a node's answers that the replay reads; members not named here are passed on as they are. */
import type { RecordedBlock } from '../recordings.ts'

export interface NodeLog {
  readonly address: string
  readonly topics: readonly string[]
}

export interface NodeReceipt {
  readonly type: string
  readonly contractAddress: string | null
  readonly effectiveGasPrice: string
  readonly logs: readonly NodeLog[]
}

export interface NodeBlock {
  readonly hash: string
  readonly parentHash: string
  /** Unix seconds as a quantity. */
  readonly timestamp: string
  readonly transactions: readonly { readonly hash: string }[]
}

/** One line of a recording, with names for what is used of it. */
export interface NodeAnswers {
  readonly block: NodeBlock
  readonly receipts: readonly NodeReceipt[]
}

export type Shape = 'anvil' | 'tempo'

/** The fee manager as a topic: the receiver of a transaction's fee. */
const feeManager = `0x${'feec'.padStart(28, '0').padEnd(64, '0')}`

/** A recorded block in the form that a node of this shape gives it. */
export function answersOf(recorded: RecordedBlock, shape: Shape): NodeAnswers {
  const answers: NodeAnswers = Object(recorded)
  return shape === 'tempo' ? asTempo(answers) : answers
}

/** Anvil's blocks and receipts in the form that a Tempo node gives them. */
function asTempo({ block, receipts }: NodeAnswers): NodeAnswers {
  const transactions = block.transactions.map((transaction, index) => {
    const receipt = receipts[index]
    return receipt?.type === '0x76' ? { ...transaction, gasPrice: receipt.effectiveGasPrice } : transaction
  })
  return {
    block: { ...without(block, 'totalDifficulty'), transactions },
    receipts: receipts.map((receipt) => ({
      ...without(receipt, 'blobGasPrice', 'blockTimestamp'),
      ...feeOf(receipt),
    })),
  }
}

/** A transaction that is not free ends with the transfer of its fee. */
function feeOf({ logs }: NodeReceipt): object {
  const fee = logs.at(-1)
  const [, payer, receiver] = fee?.topics ?? []
  return fee && receiver === feeManager ? { feeToken: fee.address, feePayer: `0x${payer?.slice(26)}` } : {}
}

function without<Value extends object>(value: Value, ...names: readonly string[]): Value {
  const kept = { ...value }
  for (const name of names) Reflect.deleteProperty(kept, name)
  return kept
}

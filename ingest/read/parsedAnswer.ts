import { parseBlock, parseReceipts, type RpcBlock, type RpcReceipt } from './block.ts'
import { type Loose, nothingLoose } from './looseParts.ts'
import { type NodeAnswerCode, NodeAnswerError } from './NodeAnswerError.ts'
import { ownReceipts } from './ownReceipts.ts'

/** A node's answer for one height. Either may be anything, null included. */
export interface BlockAnswer {
  readonly number: number
  readonly block: unknown
  readonly receipts: unknown
}

export interface ParsedAnswer {
  /** Its transactions are those that ran, at the indexes they have in their block. */
  readonly block: RpcBlock
  /** One for each transaction. */
  readonly receipts: readonly RpcReceipt[]
  /** Receipts that were told beside them and are none of the block's. */
  readonly foreign: number
}

/**
 * Checks what a node answered for one height. Chains whose roots cover neither transactions nor
 * receipts have blocks that name transactions they never ran: those have null in place of a
 * receipt, and are left out.
 * @param loose what may be another way than on Ethereum
 * @throws NodeAnswerError; `receipts_incomplete` where asking for each receipt by itself tells
 * which of them are not there
 */
export function parseAnswer(answer: BlockAnswer, loose: Loose = nothingLoose): ParsedAnswer {
  const { number } = answer
  const told = parseBlock(answer.block, { number }, loose)
  const own = ownReceipts(answer)
  if (!own.isWhole) throw new NodeAnswerError('receipts_incomplete', '', number)
  const { block, receipts } = mayLackReceipts(loose)
    ? ranOf(told, own.receipts)
    : { block: told, receipts: own.receipts }
  return { block, receipts: parseReceipts(receipts, block, loose), foreign: own.foreign }
}

const mayLackReceipts = (loose: Loose): boolean => loose.has('transactionsRoot') && loose.has('receiptsRoot')

function ranOf(block: RpcBlock, receipts: unknown): { block: RpcBlock; receipts: unknown } {
  if (!Array.isArray(receipts) || !receipts.includes(null)) return { block, receipts }
  return {
    block: { ...block, transactions: block.transactions.filter((_, index) => receipts[index] !== null) },
    receipts: receipts.filter((receipt) => receipt !== null),
  }
}

/** Whether each receipt has to be asked for by itself, or was and is not there yet. */
export const isIncomplete = (error: unknown): error is NodeAnswerError & { readonly blockNumber: number } =>
  error instanceof NodeAnswerError && incomplete.has(error.code) && error.blockNumber !== undefined

const incomplete: ReadonlySet<NodeAnswerCode> = new Set(['receipts_incomplete', 'receipts_missing'])

import { parseBlock, parseReceipts, type RpcBlock, type RpcReceipt } from './block.ts'
import { type Loose, nothingLoose } from './looseParts.ts'
import { NodeAnswerError } from './nodeAnswerError.ts'

/** What a node answered for one height. Either may be anything, null included. */
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
  const told = parseBlock(answer.block, { number: answer.number }, loose)
  const { block, receipts } = mayLackReceipts(loose)
    ? ranOf(told, answer)
    : { block: told, receipts: answer.receipts }
  return { block, receipts: parseReceipts(receipts, block, loose) }
}

const mayLackReceipts = (loose: Loose): boolean => loose.has('transactionsRoot') && loose.has('receiptsRoot')

/** @throws NodeAnswerError where the list is shorter than that of the transactions */
function ranOf(block: RpcBlock, { number, receipts }: BlockAnswer): { block: RpcBlock; receipts: unknown } {
  const { transactions } = block
  if (!Array.isArray(receipts)) return { block, receipts }
  if (receipts.length < transactions.length) throw new NodeAnswerError('receipts_incomplete', '', number)
  if (!receipts.includes(null)) return { block, receipts }
  return {
    block: { ...block, transactions: transactions.filter((_, index) => receipts[index] !== null) },
    receipts: receipts.filter((receipt) => receipt !== null),
  }
}

/** Whether each receipt has to be asked for by itself. */
export const isIncomplete = (error: unknown): error is NodeAnswerError & { readonly blockNumber: number } =>
  error instanceof NodeAnswerError && error.code === 'receipts_incomplete' && error.blockNumber !== undefined

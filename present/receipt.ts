/**
 * A receipt as the API shows it: from our row, or from a node's payload while its block is not
 * indexed.
 */

import * as s from '#http/schema.ts'
import * as primitives from '#primitives.ts'
import { isRecord } from '#primitives.ts'
import type { TransactionDetail } from '#store/read/transactions.ts'
import type { ChainKind } from '#transform/profile.ts'
import { feeOf } from '#transform/rows/fee.ts'
import { momentOrNull } from './moment.ts'
import { needed, type RpcFields, readHex, readQuantity, rpcReceipt } from './rpc.ts'
import { presentLog, readLogContent, rpcLogSchema } from './rpcLog.ts'
import { type TokenSummary, tokenSummarySchema } from './token.ts'
import { transactionType, transactionTypeOf } from './transactionType.ts'

export const receiptSchema = s.named('Receipt', {
  id: s.hash,
  transactionHash: s.hash,
  transactionIndex: s.count,
  blockNumber: s.count,
  blockHash: s.nullable(s.hash),
  timestamp: s.nullable(s.timestamp),
  sender: s.address,
  recipient: s.nullable(s.address),
  contractAddress: s.nullable(s.address),
  status: s.nullable(
    s.oneOf(['succeeded', 'reverted'], {
      description: 'Null before Byzantium, when receipts did not say.',
    }),
  ),
  type: transactionType,
  gasUsed: s.chainNumberWith({ description: 'Gas paid for.' }),
  cumulativeGasUsed: s.chainNumberWith({
    description:
      'Gas paid for in the block up to and with this transaction; on Tempo more than `gasUsed` of the block since T14 (draft).',
  }),
  effectiveGasPrice: s.amount,
  feeAmount: s.text({
    pattern: '^[0-9]+$',
    description:
      'What the chain charged: base units of `feeToken` (6 decimals), or where fees are paid in the native coin its smallest unit (18 decimals), with what blobs and the data of a rollup cost.',
    examples: ['6052'],
  }),
  feePayer: s.optional(s.address),
  feeToken: s.optional(s.address),
  logs: s.array(rpcLogSchema),
  meta: s.object({ rpc: rpcReceipt, feeToken: s.optional(tokenSummarySchema) }),
})

type Receipt = s.Static<typeof receiptSchema>

export function presentReceipt(
  { row, blockHash, archived }: TransactionDetail,
  feeToken?: TokenSummary | undefined,
): Receipt {
  const { receipt } = archived
  return {
    id: row.hash,
    transactionHash: row.hash,
    transactionIndex: row.idx,
    blockNumber: Number(row.block_num),
    blockHash,
    timestamp: s.isoSeconds(row.block_timestamp),
    sender: row.from,
    recipient: row.to,
    contractAddress: row.contract_address,
    status: statusOf(row.status),
    type: transactionTypeOf(row.type),
    gasUsed: row.gas_used,
    cumulativeGasUsed: row.cumulative_gas_used,
    effectiveGasPrice: `${row.effective_gas_price ?? row.gas_price ?? 0n}`,
    feeAmount: `${row.fee_amount ?? 0n}`,
    ...(row.fee_payer !== null && { feePayer: row.fee_payer }),
    ...(row.paid_fee_token !== null && { feeToken: row.paid_fee_token }),
    logs: logsOf(receipt).map(presentLog),
    meta: { rpc: receipt, ...(feeToken && { feeToken }) },
  }
}

/** @throws NodeAnswerError for what is no receipt */
export function presentNodeReceipt(rpc: RpcFields, kind: ChainKind): Receipt {
  const hash = needed(readHex(rpc, 'transactionHash'), 'transactionHash')
  const numberOf = (name: string) => Number(needed(readQuantity(rpc, name), name))
  const timestamp = readQuantity(rpc, 'blockTimestamp')
  const status = readQuantity(rpc, 'status')
  const fee = nodeFee(rpc, kind)
  return {
    id: hash,
    transactionHash: hash,
    transactionIndex: numberOf('transactionIndex'),
    blockNumber: numberOf('blockNumber'),
    blockHash: readHex(rpc, 'blockHash'),
    timestamp: timestamp === null ? null : momentOrNull(timestamp),
    sender: needed(readHex(rpc, 'from'), 'from'),
    recipient: readHex(rpc, 'to'),
    contractAddress: readHex(rpc, 'contractAddress'),
    status: statusOf(status === null ? null : Number(status)),
    type: transactionTypeOf(Number(readQuantity(rpc, 'type') ?? 0n)),
    gasUsed: needed(readQuantity(rpc, 'gasUsed'), 'gasUsed'),
    cumulativeGasUsed: needed(readQuantity(rpc, 'cumulativeGasUsed'), 'cumulativeGasUsed'),
    effectiveGasPrice: `${readQuantity(rpc, 'effectiveGasPrice') ?? 0n}`,
    feeAmount: `${fee.amount ?? 0n}`,
    ...(fee.payer !== null && { feePayer: fee.payer }),
    ...(fee.token !== null && { feeToken: fee.token }),
    logs: logsOf(rpc).map(presentLog),
    meta: { rpc },
  }
}

/**
 * By the rule of indexed receipts: what the closing transfer says stands before the node's own
 * words.
 */
function nodeFee(rpc: RpcFields, kind: ChainKind) {
  const addressOf = (name: string) => {
    const text = readHex(rpc, name)
    return text === null ? null : primitives.address(text)
  }
  const quantityOf = (name: string): primitives.Hex | null => {
    const value = readQuantity(rpc, name)
    return value === null ? null : `0x${value.toString(16)}`
  }
  return feeOf(
    { kind },
    { type: quantityOf('type') },
    {
      from: needed(addressOf('from'), 'from'),
      gasUsed: needed(quantityOf('gasUsed'), 'gasUsed'),
      effectiveGasPrice: quantityOf('effectiveGasPrice'),
      l1Fee: quantityOf('l1Fee'),
      blobGasUsed: quantityOf('blobGasUsed'),
      blobGasPrice: quantityOf('blobGasPrice'),
      feePayer: addressOf('feePayer'),
      feeToken: addressOf('feeToken'),
      logs: logsOf(rpc).map(readLogContent),
    },
  )
}

const logsOf = (receipt: RpcFields): readonly RpcFields[] =>
  Array.isArray(receipt['logs']) ? receipt['logs'].filter(isRecord) : []

function statusOf(status: number | null): 'succeeded' | 'reverted' | null {
  if (status === null) return null
  return status === 1 ? 'succeeded' : 'reverted'
}

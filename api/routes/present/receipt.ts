/** A receipt as the API shows it (spec "Receipt"). */
import type { TransactionDetail } from '#store/queries/transactions.ts'
import * as s from '../../http/schema.ts'
import { rpcLog, rpcReceipt } from './rpc.ts'
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
  gasUsed: s.count,
  cumulativeGasUsed: s.count,
  effectiveGasPrice: s.amount,
  feeAmount: s.amount,
  feePayer: s.optional(s.address),
  feeToken: s.optional(s.address),
  logs: s.array(rpcLog),
  meta: s.object({ rpc: rpcReceipt }),
})

export function presentReceipt({
  row,
  blockHash,
  archived,
}: TransactionDetail): s.Static<typeof receiptSchema> {
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
    gasUsed: Number(row.gas_used),
    cumulativeGasUsed: Number(row.cumulative_gas_used),
    effectiveGasPrice: `${row.effective_gas_price ?? row.gas_price ?? 0n}`,
    feeAmount: `${row.fee_amount ?? 0n}`,
    ...(row.fee_payer !== null && { feePayer: row.fee_payer }),
    ...(row.paid_fee_token !== null && { feeToken: row.paid_fee_token }),
    logs: Array.isArray(receipt['logs']) ? receipt['logs'] : [],
    meta: { rpc: receipt },
  }
}

function statusOf(status: number | null): 'succeeded' | 'reverted' | null {
  if (status === null) return null
  return status === 1 ? 'succeeded' : 'reverted'
}

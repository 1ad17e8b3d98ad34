/**
 * A receipt as the API shows it: from our row, or from a node's payload while its block is not
 * indexed.
 */

import * as s from '#http/schema.ts'
import { feeTermsOf } from '#ingest/read/feeTerms.ts'
import * as primitives from '#primitives.ts'
import { isRecord } from '#primitives.ts'
import type { TransactionDetail } from '#store/read/transactions.ts'
import type { ChainKind } from '#transform/profile.ts'
import { type Fee, feeOf } from '#transform/rows/fee.ts'
import { isFeeInReceipt } from '#transform/rows/feeRules.ts'
import { feeUnknownOf, feeUnknowns } from '#transform/rows/feeUnknown.ts'
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
      'Gas paid for in the block up to and with this transaction; the last one is not `gasUsed` of the block since EIP-7778, nor on Tempo since T14 (draft).',
  }),
  effectiveGasPrice: s.amount,
  feeAmount: s.nullable(
    s.text({
      pattern: '^[0-9]+$',
      description:
        'What was paid: base units of `feeToken`, or without one the smallest unit of the native coin (18 decimals), with what blobs, the data of a rollup and its operator cost. Null where it is unknown; `feeUnknown` says why.',
      examples: ['6052'],
    }),
  ),
  feeUnknown: s.optional(
    s.oneOf(feeUnknowns, {
      description:
        'Why `feeAmount` is null. `type`: what transactions of this type pay is not known, or others pay it. `price`: the node tells no price, or one that nobody could have paid. `terms`: the receipt has terms of a fee by no known rule, or only a part of them.',
    }),
  ),
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
    ...feeOfRow(row),
    ...(row.fee_payer !== null && { feePayer: row.fee_payer }),
    ...(row.paid_fee_token !== null && { feeToken: row.paid_fee_token }),
    logs: logsOf(receipt).map(presentLog),
    meta: { rpc: receipt, ...(feeToken && { feeToken }) },
  }
}

/**
 * @param transaction as the node gave it; null where it was not asked for
 * @throws NodeAnswerError for what is no receipt
 */
export function presentNodeReceipt(rpc: RpcFields, transaction: RpcFields | null, kind: ChainKind): Receipt {
  const hash = needed(readHex(rpc, 'transactionHash'), 'transactionHash')
  const numberOf = (name: string) => Number(needed(readQuantity(rpc, name), name))
  const timestamp = readQuantity(rpc, 'blockTimestamp')
  const status = readQuantity(rpc, 'status')
  const fee = nodeFee(rpc, transaction, kind)
  const type = Number(readQuantity(rpc, 'type') ?? 0n)
  const gasUsed = needed(readQuantity(rpc, 'gasUsed'), 'gasUsed')
  const price = readQuantity(rpc, 'effectiveGasPrice')
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
    type: transactionTypeOf(type),
    gasUsed,
    cumulativeGasUsed: needed(readQuantity(rpc, 'cumulativeGasUsed'), 'cumulativeGasUsed'),
    effectiveGasPrice: `${price ?? 0n}`,
    ...feeOfRow({
      ...{ type, gas_used: gasUsed, gas_price: null },
      ...{ effective_gas_price: price, fee_amount: fee.amount },
    }),
    ...(fee.payer !== null && { feePayer: fee.payer }),
    ...(fee.token !== null && { feeToken: fee.token }),
    logs: logsOf(rpc).map(presentLog),
    meta: { rpc },
  }
}

/** Whether a node's receipt does not tell the fee without its transaction. */
export const needsTransaction = (rpc: RpcFields): boolean => !isFeeInReceipt(quantityOf(rpc, 'type'))

/** The amount, and where it is unknown the reason. */
function feeOfRow(row: Parameters<typeof feeUnknownOf>[0]): Pick<Receipt, 'feeAmount' | 'feeUnknown'> {
  const feeUnknown = feeUnknownOf(row)
  return feeUnknown === null ? { feeAmount: `${row.fee_amount}` } : { feeAmount: null, feeUnknown }
}

/**
 * By the rule of indexed receipts: what the closing transfer says stands before the node's own
 * words.
 */
function nodeFee(rpc: RpcFields, transaction: RpcFields | null, kind: ChainKind): Fee {
  if (transaction === null && needsTransaction(rpc)) return unknownFee
  const tx = transaction ?? {}
  return feeOf(
    { kind },
    {
      type: quantityOf(rpc, 'type'),
      gasPrice: quantityOf(tx, 'gasPrice'),
      feeCurrency: addressOf(tx, 'feeCurrency'),
      ...{ gatewayFee: tx['gatewayFee'], calls: tx['calls'] },
    },
    {
      ...feeTermsOf(rpc),
      from: needed(addressOf(rpc, 'from'), 'from'),
      gasUsed: needed(quantityOf(rpc, 'gasUsed'), 'gasUsed'),
      effectiveGasPrice: quantityOf(rpc, 'effectiveGasPrice'),
      l1Fee: quantityOf(rpc, 'l1Fee'),
      blobGasUsed: quantityOf(rpc, 'blobGasUsed'),
      blobGasPrice: quantityOf(rpc, 'blobGasPrice'),
      feePayer: addressOf(rpc, 'feePayer'),
      feeToken: addressOf(rpc, 'feeToken'),
      logs: logsOf(rpc).map(readLogContent),
    },
  )
}

const unknownFee: Fee = { payer: null, token: null, amount: null, logPosition: null }

function addressOf(fields: RpcFields, name: string): primitives.Address | null {
  const text = readHex(fields, name)
  return text === null ? null : primitives.address(text)
}

function quantityOf(fields: RpcFields, name: string): primitives.Hex | null {
  const value = readQuantity(fields, name)
  return value === null ? null : `0x${value.toString(16)}`
}

const logsOf = (receipt: RpcFields): readonly RpcFields[] =>
  Array.isArray(receipt['logs']) ? receipt['logs'].filter(isRecord) : []

function statusOf(status: number | null): 'succeeded' | 'reverted' | null {
  if (status === null) return null
  return status === 1 ? 'succeeded' : 'reverted'
}

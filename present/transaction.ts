/**
 * A transaction as the API shows it: from our row, or while it is pending from the node's payload.
 */

import * as s from '#http/schema.ts'
import { isRecord } from '#primitives.ts'
import type { TransactionDetail } from '#store/read/transactions.ts'
import { signatureTypeName, signatureTypeNames, signatureTypeOf } from '#transform/rows/signatureType.ts'
import { momentOrNull } from './moment.ts'
import { presentReceipt, receiptSchema } from './receipt.ts'
import { needed, type RpcFields, readHex, readQuantity, rpcTransaction } from './rpc.ts'
import { type TokenSummary, tokenSummarySchema } from './token.ts'
import { transactionType, transactionTypeOf } from './transactionType.ts'

export const transactionSchema = s.named('Transaction', {
  id: s.hash,
  hash: s.hash,
  blockHash: s.nullable(s.hash),
  blockNumber: s.nullable(s.count),
  transactionIndex: s.nullable(s.count),
  timestamp: s.nullable(s.timestamp),
  chainId: s.optional(s.count),
  sender: s.address,
  recipient: s.nullable(s.address),
  type: transactionType,
  nonce: s.chainNumber,
  nonceKey: s.optional(s.hex),
  gas: s.chainNumber,
  gasPrice: s.optional(s.amount),
  maxFeePerGas: s.optional(s.amount),
  maxPriorityFeePerGas: s.optional(s.amount),
  feeToken: s.optional(s.address),
  value: s.amount,
  input: s.optional(s.hex),
  calls: s.optional(s.array(s.object({ to: s.nullable(s.address), data: s.optional(s.hex) }))),
  validAfter: s.optional(s.nullable(s.timestamp)),
  validBefore: s.optional(s.nullable(s.timestamp)),
  signatureType: s.optional(
    s.oneOf(signatureTypeNames, {
      description:
        "What signed a transaction of Tempo's type, of an access key the key's own kind: `zk` is an identity with a proof. Absent for other types and other signatures.",
    }),
  ),
  meta: s.object({
    rpc: rpcTransaction,
    receipt: s.optional(receiptSchema),
    feeToken: s.optional(tokenSummarySchema),
  }),
})

type Transaction = s.Static<typeof transactionSchema>

/** Tempo's own type, whose data is in its calls. */
const TEMPO_TYPE = 118

/** The parts that a request asked for beside the transaction. */
export interface TransactionExtras {
  readonly receipt: boolean
  readonly feeToken: TokenSummary | undefined
}

/** The token a transaction paid its fee in, else the one it wanted to pay in. */
export const feeTokenOf = ({ row }: TransactionDetail): string | null => row.paid_fee_token ?? row.fee_token

/** The same by a node's payload: Celo has a word of its own for it. */
export const nodeFeeTokenOf = (rpc: RpcFields): string | null =>
  readHex(rpc, 'feeToken') ?? readHex(rpc, 'feeCurrency')

export function presentTransaction(
  detail: TransactionDetail,
  extras: TransactionExtras,
  chainId: number,
): Transaction {
  const { row, blockHash, archived } = detail
  const feeToken = feeTokenOf(detail)
  return {
    id: row.hash,
    hash: row.hash,
    blockHash,
    blockNumber: Number(row.block_num),
    transactionIndex: row.idx,
    timestamp: s.isoSeconds(row.block_timestamp),
    chainId,
    sender: row.from,
    recipient: row.to,
    type: transactionTypeOf(row.type),
    nonce: row.nonce ?? 0,
    gas: row.gas_limit,
    ...amounts({
      gasPrice: row.gas_price,
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    }),
    ...(feeToken !== null && { feeToken }),
    value: `${row.value}`,
    ...(row.type === TEMPO_TYPE
      ? {
          ...tempoFields(callsOf(row.calls), row.nonce_key, row.valid_after, row.valid_before),
          ...signatureTypeField(row.signature_type),
        }
      : { input: row.input }),
    meta: {
      rpc: archived.transaction,
      ...(extras.receipt && { receipt: presentReceipt(detail) }),
      ...(extras.feeToken && { feeToken: extras.feeToken }),
    },
  }
}

/** @throws NodeAnswerError for what is no transaction */
export function presentNodeTransaction(
  rpc: RpcFields,
  feeTokenSummary: TokenSummary | undefined,
  chainId: number,
): Transaction {
  const type = Number(readQuantity(rpc, 'type') ?? 0n)
  const hash = needed(readHex(rpc, 'hash'), 'hash')
  const timestamp = readQuantity(rpc, 'blockTimestamp')
  const calls = Array.isArray(rpc['calls']) ? rpc['calls'] : []
  const nonceKey = readHex(rpc, 'nonceKey')
  const feeToken = nodeFeeTokenOf(rpc)
  return {
    id: hash,
    hash,
    blockHash: readHex(rpc, 'blockHash'),
    blockNumber: numberOrNull(readQuantity(rpc, 'blockNumber')),
    transactionIndex: numberOrNull(readQuantity(rpc, 'transactionIndex')),
    timestamp: timestamp === null ? null : momentOrNull(timestamp),
    chainId,
    sender: needed(readHex(rpc, 'from'), 'from'),
    recipient: readHex(rpc, 'to') ?? readHex(isRecord(calls[0]) ? calls[0] : {}, 'to'),
    type: transactionTypeOf(type),
    nonce: needed(readQuantity(rpc, 'nonce'), 'nonce'),
    gas: needed(readQuantity(rpc, 'gas'), 'gas'),
    ...amounts({
      gasPrice: readQuantity(rpc, 'gasPrice'),
      maxFeePerGas: readQuantity(rpc, 'maxFeePerGas'),
      maxPriorityFeePerGas: readQuantity(rpc, 'maxPriorityFeePerGas'),
    }),
    ...(feeToken !== null && { feeToken }),
    value: `${readQuantity(rpc, 'value') ?? 0n}`,
    ...(type === TEMPO_TYPE
      ? {
          ...tempoFields(
            calls,
            nonceKey && `0x${nonceKey.slice(2).padStart(64, '0')}`,
            readQuantity(rpc, 'validAfter'),
            readQuantity(rpc, 'validBefore'),
          ),
          ...signatureTypeField(signatureTypeOf(type, rpc['signature'])),
        }
      : { input: readHex(rpc, 'input') ?? '0x' }),
    meta: { rpc, ...(feeTokenSummary && { feeToken: feeTokenSummary }) },
  }
}

/** The fields that only a 0x76 transaction has. */
function tempoFields(
  calls: readonly unknown[],
  nonceKey: string | null,
  validAfter: number | bigint | null,
  validBefore: number | bigint | null,
): Pick<Transaction, 'calls' | 'nonceKey' | 'validAfter' | 'validBefore'> {
  return {
    calls: calls.filter(isRecord).map((call) => ({
      to: readHex(call, 'to'),
      data: readHex(call, 'input') ?? readHex(call, 'data') ?? '0x',
    })),
    ...(nonceKey !== null && { nonceKey }),
    ...(validAfter !== null && { validAfter: momentOrNull(validAfter) }),
    ...(validBefore !== null && { validBefore: momentOrNull(validBefore) }),
  }
}

/** Only a 0x76 transaction has a choice. */
function signatureTypeField(number: number | null): Pick<Transaction, 'signatureType'> {
  const signatureType = signatureTypeName(number)
  return signatureType === null ? {} : { signatureType }
}

/** Our own JSON of the calls: [{to, value, input}]. */
function callsOf(text: string | null): readonly unknown[] {
  const calls: unknown = JSON.parse(text ?? '[]')
  return Array.isArray(calls) ? calls : []
}

/** Those that are there, as decimal text. */
function amounts<Name extends string>(of: Readonly<Record<Name, bigint | null>>): { [Key in Name]?: string } {
  const texts: { [Key in Name]?: string } = {}
  for (const name in of) if (of[name] !== null) texts[name] = `${of[name]}`
  return texts
}

const numberOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value))

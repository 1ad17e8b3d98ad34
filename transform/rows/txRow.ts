import type { Quantity, RpcTransaction, RpcTxCall } from '#ingest/read/block.ts'
import type { ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import type { Address } from '#primitives.ts'
import type { StoredRow } from '../tables.ts'
import type { StoredFee } from './fee.ts'
import { feeCurrencyOf } from './feeRules.ts'
import { toNumber, toUint64, toUint64OrNull, toUint256, toUint256OrNull } from './quantity.ts'
import { signatureTypeOf } from './signatureType.ts'

/**
 * Tempo's transaction: batched calls, fee token, sponsor, nonce lanes, validity window, several
 * signature kinds.
 */
const tempoType = '0x76'

/** The place of a transaction, as its rows name it. */
export interface TxPlace {
  readonly blockNumber: number
  readonly timestampSeconds: number
  readonly txIndex: number
}

/**
 * A transaction with its receipt; they are 1:1 and stored as one row. Of what roots prove, columns
 * are made of nothing else: a node may tell any field of a transaction whose envelope has no such
 * field.
 */
export function txRow(
  place: TxPlace,
  tx: RpcTransaction,
  receipt: ScannedReceipt,
  fee: StoredFee,
): StoredRow<'txs'> {
  const tempo = tx.type === tempoType ? tempoColumns(tx) : notTempo
  const hasOnePrice = tx.type === '0x0' || tx.type === '0x1'
  return {
    block_num: place.blockNumber,
    idx: place.txIndex,
    block_timestamp: place.timestampSeconds,
    hash: receipt.transactionHash,
    type: toNumber(tx.type),
    from: receipt.from,
    to: recipientOf(tx),
    input: tx.type === tempoType ? '0x' : (tx.input ?? '0x'),
    gas_limit: toUint64(tx.gas),
    nonce: toUint64OrNull(tx.nonce),
    // Spread here, these would cost as much as all the others.
    nonce_key: tempo.nonce_key,
    fee_token: tempo.fee_token ?? feeCurrencyOf(tx),
    calls: tempo.calls,
    call_count: tempo.call_count,
    valid_before: tempo.valid_before,
    valid_after: tempo.valid_after,
    signature_type: signatureTypeOf(toNumber(tx.type), tx.signature),
    status: statusOf(receipt),
    gas_used: receipt.gasUsed,
    cumulative_gas_used: receipt.cumulativeGasUsed,
    contract_address: receipt.contractAddress,
    fee_payer: fee.payer,
    paid_fee_token: fee.token,
    log_count: receipt.logs.length,
    value: toUint256(tx.type === tempoType ? '0x0' : (tx.value ?? '0x0')),
    gas_price: toUint256OrNull(tx.gasPrice),
    max_fee_per_gas: hasOnePrice ? null : toUint256OrNull(tx.maxFeePerGas),
    max_priority_fee_per_gas: hasOnePrice ? null : toUint256OrNull(tx.maxPriorityFeePerGas),
    effective_gas_price: toUint256OrNull(receipt.effectiveGasPrice),
    fee_amount: fee.amount,
  }
}

/**
 * A 0x76 transaction has calls instead of a recipient: the first call's, as nodes have it in the
 * receipt, where nothing proves it.
 */
export function recipientOf({ type, calls, to }: RpcTransaction): Address | null {
  return (type === tempoType ? calls?.[0]?.to : to) ?? null
}

/** 1 succeeded, 0 reverted; null before Byzantium, when receipts had a state root instead. */
export function statusOf(receipt: ScannedReceipt): 0 | 1 | null {
  if (receipt.status === null) return null
  return receipt.status === '0x0' ? 0 : 1
}

type TempoColumns = Pick<
  StoredRow<'txs'>,
  'nonce_key' | 'fee_token' | 'calls' | 'call_count' | 'valid_before' | 'valid_after'
>

const notTempo: TempoColumns = {
  nonce_key: null,
  fee_token: null,
  calls: null,
  call_count: 1,
  valid_before: null,
  valid_after: null,
}

function tempoColumns(tx: RpcTransaction): TempoColumns {
  const calls = tx.calls ?? []
  return {
    nonce_key: tx.nonceKey ? wordOf(tx.nonceKey) : null,
    fee_token: tx.feeToken ?? null,
    calls: JSON.stringify(calls.map(callFields)),
    call_count: calls.length,
    valid_before: toUint64OrNull(tx.validBefore),
    valid_after: toUint64OrNull(tx.validAfter),
  }
}

/** The first nonce lane, which most transactions are in. */
const zeroWord = `0x${'0'.repeat(64)}`

const wordOf = (quantity: Quantity): string =>
  quantity === '0x0' ? zeroWord : `0x${quantity.slice(2).padStart(64, '0')}`

const callFields = (call: RpcTxCall) => ({
  to: call.to ?? null,
  value: call.value ?? '0x0',
  input: call.input ?? call.data ?? '0x',
})

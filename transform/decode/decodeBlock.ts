import type { RpcBlock, RpcTransaction } from '#ingest/read/block.ts'
import type { ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import type { ChainProfile } from '../profile.ts'
import type { ProjectedTransaction, Projection, RowSinks } from '../projection.ts'
import { blockRow } from '../rows/blockRow.ts'
import { isFeeImpossible, type StoredFee, scannedFee } from '../rows/fee.ts'
import { logRow } from '../rows/logRow.ts'
import { toNumber, toUint256 } from '../rows/quantity.ts'
import { recipientOf, statusOf, type TxPlace, txRow } from '../rows/txRow.ts'
import { findVirtualForwards } from '../rows/virtualForwards.ts'

/** The rules that a block's rows depend on, besides its answer. */
export interface DecodeRules {
  readonly profile: ChainProfile
  readonly projections: readonly Projection[]
}

/**
 * Appends a verified block's rows: block, transactions, logs, and what the projections derive, in
 * the order of the tables' keys. False where a fee was left out because of the price told for it.
 */
export function decodeBlock(
  rules: DecodeRules,
  block: RpcBlock,
  receipts: readonly ScannedReceipt[],
  rows: RowSinks,
): boolean {
  let hasFees = true
  const place: BlockPlace = {
    number: toNumber(block.number),
    hash: block.hash,
    timestampSeconds: toNumber(block.timestamp),
  }
  let logsBefore = 0
  rows.blocks.append(blockRow(block, receipts))
  block.transactions.forEach((tx, position) => {
    const receipt = receipts[position]
    if (receipt === undefined)
      throw new Error(`block ${place.number}: transaction ${position} has no receipt`)
    const index = toNumber(tx.transactionIndex)
    const fee = scannedFee(rules.profile, tx, receipt)
    if (fee.amount === null && isFeeImpossible(rules.profile, tx, receipt)) hasFees = false
    const txPlace = { blockNumber: place.number, timestampSeconds: place.timestampSeconds, txIndex: index }
    rows.txs.append(txRow(txPlace, tx, receipt, fee))
    appendLogs(rules.profile, txPlace, receipt, rows)
    const paid = paidBy(rules.profile, tx)
    const facts = { ...factsOf(place, index, tx, receipt, fee), paid, logsBefore }
    for (const projection of rules.projections) projection.project(facts, rows)
    logsBefore += receipt.logs.length
  })
  return hasFees
}

type BlockPlace = ProjectedTransaction['block']

/** Logs are given to projections as they were scanned, with what was found out about them. */
function appendLogs(profile: ChainProfile, tx: TxPlace, receipt: ScannedReceipt, rows: RowSinks): void {
  if (profile.kind === 'tempo') {
    for (const position of findVirtualForwards(receipt.logs)) {
      const log = receipt.logs[position]
      if (log) log.isVirtualForward = true
    }
  }
  const place = { ...tx, txHash: receipt.transactionHash }
  for (const log of receipt.logs) rows.logs.append(logRow(log, place))
}

/** A payment to oneself moves nothing, and Tempo has no coin of its own. */
function paidBy({ kind }: ChainProfile, tx: RpcTransaction): bigint {
  if (kind === 'tempo' || tx.from === recipientOf(tx)) return 0n
  return toUint256(tx.value ?? '0x0')
}

function factsOf(
  block: BlockPlace,
  txIndex: number,
  tx: RpcTransaction,
  receipt: ScannedReceipt,
  fee: StoredFee,
): Omit<ProjectedTransaction, 'paid' | 'logsBefore'> {
  const { logs } = receipt
  return {
    block,
    txIndex,
    txHash: receipt.transactionHash,
    from: receipt.from,
    to: recipientOf(tx),
    contractAddress: receipt.contractAddress,
    status: statusOf(receipt),
    feeLogIndex: fee.logPosition === null ? null : (logs[fee.logPosition]?.logIndex ?? null),
    logs,
  }
}

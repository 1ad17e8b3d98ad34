import type { RpcBlock, RpcReceipt, RpcTransaction } from '#ingest/block.ts'
import type { ChainProfile } from './profile.ts'
import type { LogFacts, Projection, RowSinks, TransactionFacts } from './projection.ts'
import { blockRow } from './rows/blockRow.ts'
import { type Fee, feeOf } from './rows/fee.ts'
import { logRow } from './rows/logRow.ts'
import { toNumber } from './rows/quantity.ts'
import { recipientOf, statusOf, txRow } from './rows/txRow.ts'
import { findVirtualForwards } from './rows/virtualForwards.ts'

/** What the rows of a block depend on besides its answer. */
export interface DecodeRules {
  readonly profile: ChainProfile
  readonly projections: readonly Projection[]
}

/**
 * Appends a verified block's rows: block, transactions, logs, and what the projections derive, in the order of the
 * tables' keys.
 */
export function decodeBlock(
  rules: DecodeRules,
  block: RpcBlock,
  receipts: readonly RpcReceipt[],
  rows: RowSinks,
): void {
  const place: BlockPlace = {
    number: toNumber(block.number),
    hash: block.hash,
    timestampSeconds: toNumber(block.timestamp),
  }
  rows.blocks.append(blockRow(block, receipts))
  block.transactions.forEach((tx, index) => {
    const receipt = receipts[index]
    if (receipt === undefined) throw new Error(`block ${place.number}: transaction ${index} has no receipt`)
    const fee = feeOf(rules.profile, tx, receipt)
    rows.txs.append(txRow(block, tx, receipt, fee))
    const logs = appendLogs(rules.profile, place, index, receipt, rows)
    const facts = factsOf(rules.profile, place, index, { tx, receipt, fee, logs })
    for (const projection of rules.projections) projection.project(facts, rows)
  })
}

type BlockPlace = TransactionFacts['block']

function appendLogs(
  profile: ChainProfile,
  block: BlockPlace,
  txIndex: number,
  receipt: RpcReceipt,
  rows: RowSinks,
): readonly LogFacts[] {
  const forwards = profile.kind === 'tempo' ? findVirtualForwards(receipt.logs) : noForwards
  const place = {
    blockNumber: block.number,
    timestampSeconds: block.timestampSeconds,
    txIndex,
    txHash: receipt.transactionHash,
  }
  return receipt.logs.map((log, position): LogFacts => {
    const isVirtualForward = forwards.has(position)
    const row = logRow(log, place, isVirtualForward)
    rows.logs.append(row)
    const { address, topics, data } = log
    return { address, topics, data, logIndex: row.log_idx, isVirtualForward }
  })
}

const noForwards: ReadonlySet<number> = new Set()

function factsOf(
  profile: ChainProfile,
  block: BlockPlace,
  txIndex: number,
  parts: {
    readonly tx: RpcTransaction
    readonly receipt: RpcReceipt
    readonly fee: Fee
    readonly logs: readonly LogFacts[]
  },
): TransactionFacts {
  const { tx, receipt, fee, logs } = parts
  return {
    profile,
    block,
    txIndex,
    txHash: tx.hash,
    type: toNumber(tx.type),
    from: tx.from,
    to: recipientOf(tx, receipt),
    contractAddress: receipt.contractAddress ?? null,
    status: statusOf(receipt),
    feePayer: fee.payer,
    paidFeeToken: fee.token,
    feeLogIndex: fee.logPosition === null ? null : (logs[fee.logPosition]?.logIndex ?? null),
    logs,
  }
}

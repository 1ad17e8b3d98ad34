import type { Hash } from '#primitives.ts'
import { transfer } from '../events/tokens/erc20.ts'
import { transferWithMemo } from '../events/tokens/tip20.ts'
import { defineProjection, type LogFacts } from '../projection.ts'
import { hasTopic0, readTransfer, topicOf } from './scannedTransfer.ts'

/**
 * Every well-formed Transfer of any contract: fees and virtual forwards are rows like others,
 * marked. What REST lists and what counts as a payment is the reader's choice.
 */
export const tokenTransfers = defineProjection({
  name: 'token_transfers',
  tables: ['token_transfers'],

  project(tx, rows) {
    const memos = findMemos(tx.logs)
    for (const log of tx.logs) {
      const movement = readTransfer(log)
      if (movement === null) continue
      rows.token_transfers.append({
        block_num: tx.block.number,
        log_idx: log.logIndex,
        block_timestamp: tx.block.timestampSeconds,
        tx_idx: tx.txIndex,
        tx_hash: tx.txHash,
        token: movement.token,
        from: movement.from,
        to: movement.to,
        memo: memos.get(log.logIndex)?.memo ?? null,
        is_fee: log.logIndex === tx.feeLogIndex,
        is_virtual_forward: log.isVirtualForward,
        amount: movement.amount,
      })
    }
  },
})

/**
 * The memo of each transfer that has one, by the transfer's log index. A token emits Transfer and
 * then TransferWithMemo for one movement, so a memo belongs to the nearest equal Transfer before it
 * that has none yet: of two equal transfers in one transaction, one with a memo, the right one gets
 * it.
 */
export function findMemos(logs: readonly LogFacts[]): ReadonlyMap<number, Memo> {
  if (!logs.some((log) => hasTopic0(log, memoTopic))) return noMemos
  const memos = new Map<number, Memo>()
  const withoutMemo = new Map<string, number[]>()
  for (const log of logs) {
    // Not decoded here: with the sides and amount of a well-formed memo it is well-formed.
    if (log.topics[0] === transfer.topic0 && log.topics.length === 3) {
      const key = movementKey(log)
      const waiting = withoutMemo.get(key)
      if (waiting === undefined) withoutMemo.set(key, [log.logIndex])
      else waiting.push(log.logIndex)
      continue
    }
    const args = transferWithMemo.decode(log)
    const logIndex = args === null ? undefined : withoutMemo.get(movementKey(log))?.pop()
    if (args !== null && logIndex !== undefined)
      memos.set(logIndex, { memo: args.memo, logIndex: log.logIndex })
  }
  return memos
}

export interface Memo {
  readonly memo: Hash
  /** Index of the log that told it. */
  readonly logIndex: number
}

const memoTopic = topicOf(transferWithMemo)

const noMemos: ReadonlyMap<number, Memo> = new Map()

/** Token, both sides and amount are at the same places in both events. */
function movementKey({ address, topics, data }: LogFacts): string {
  return `${address}${topics[1]}${topics[2]}${data}`
}

/** Statements of ours that no declared list compiles to: what they are made of. */
import { feeManagerAddress } from '#transform/addresses.ts'
import { transfer } from '#transform/events/tokens/erc20.ts'
import { behind, literalBytes, type Parameters } from '../../sql.ts'
import type { WalkQuery } from './read.ts'

/**
 * The transactions a walk reads next: block bounds, and the place it goes on from, for a table's
 * own column names.
 */
export function placeCondition(
  { fromBlock, toBlock, position, order }: WalkQuery,
  parameters: Parameters,
  [block, index]: readonly [string, string],
  including = false,
): string {
  const bounds = `${block} >= ${parameters.add(fromBlock)} AND ${block} <= ${parameters.add(toBlock)}`
  if (!position) return bounds
  const passed = [parameters.add(position[0]), parameters.add(position[1])]
  // The row comparison says it all; the bound on the block alone is what an index on (…, block, …)
  // can begin with.
  return `${bounds} AND ${block} ${order === 'desc' ? '<=' : '>='} ${passed[0]}
    AND ${behind([block, index], order, passed, including)}`
}

const padding = '0'.repeat(24)

/**
 * True of the logs that are Transfers to the fee manager and rows of token_transfers (migration 14
 * says the same).
 */
export const isFeeManagerTransfer = `(topic0 = ${literalBytes(transfer.topic0)}
  AND topic2 = ${literalBytes(`0x${padding}${feeManagerAddress.slice(2)}`)}
  AND topic3 IS NULL AND octet_length(data) = 32
  AND substring(topic1 FROM 1 FOR 12) = ${literalBytes(`0x${padding}`)})`

/**
 * True of the rows of token_transfers that brought the fee manager something else than a fee
 * (migration 14).
 */
export const isDeposit = `"to" = ${literalBytes(feeManagerAddress)} AND NOT is_fee`

/**
 * The same, of all tokens together. The last condition is always true; only the index of this
 * question has it.
 */
export const isAnyDeposit = `${isDeposit} AND log_idx >= 0`

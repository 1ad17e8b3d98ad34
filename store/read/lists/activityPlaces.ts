/**
 * Transactions that an account takes part in: it sent them, paid their fee, tokens or coins moved from
 * or to it, it burned another one's, or the guard held or gave back what it refused. Newest first. The
 * closing fee is no part: its payer is named by the transaction, and the fee manager takes part in
 * what else it got.
 */
import { feeManagerAddress, receivePolicyGuardAddress } from '#transform/addresses.ts'
import { burnAt } from '#transform/events/tokens/tip20.ts'
import { literalBytes, otherTokens, Parameters, quoteIdentifier, tip20Tokens } from '../../sql.ts'
import type { WalkQuery } from './read.ts'
import { isAnyDeposit, placeCondition } from './statement.ts'

export interface PlacesStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * Rows `block_num, tx_idx`, each once. `including`: the query's position is the first place, not
 * the one passed. `hasCoin`: the chain has a coin of its own, whose movements are parts too.
 */
export function compileActivityPlaces(
  schema: string,
  account: string,
  query: WalkQuery,
  including: boolean,
  hasCoin = false,
): PlacesStatement {
  const parameters = new Parameters()
  const address = parameters.bytes(account)
  const limit = `LIMIT ${query.limit}`
  const inTxs = placeCondition(query, parameters, ['block_num', 'idx'], including)
  const sent = (column: string) =>
    `(SELECT block_num, idx AS tx_idx FROM ${quoteIdentifier(schema)}.txs
      WHERE ${column} = ${address} AND ${inTxs} ORDER BY block_num DESC, idx DESC ${limit})`
  const inTransfers = placeCondition(query, parameters, ['block_num', 'tx_idx'], including)
  const moved = (condition: string) =>
    `(SELECT DISTINCT block_num, tx_idx FROM ${quoteIdentifier(schema)}.token_transfers
      WHERE ${condition} AND ${inTransfers} ORDER BY block_num DESC, tx_idx DESC ${limit})`
  const movedCoin = (side: string) =>
    `(SELECT DISTINCT block_num, tx_idx FROM ${quoteIdentifier(schema)}.native_transfers
      WHERE ${side} = ${address} AND ${inTransfers} ORDER BY block_num DESC, tx_idx DESC ${limit})`
  const topic = parameters.bytes(`0x${account.slice(2).padStart(64, '0')}`)
  const named = `(SELECT DISTINCT block_num, tx_idx FROM ${quoteIdentifier(schema)}.logs
      WHERE ${namedAccount} = ${topic} AND (${namesAccount}) AND ${inTransfers}
      ORDER BY block_num DESC, tx_idx DESC ${limit})`
  const received =
    account === feeManagerAddress ? [isAnyDeposit] : halves.map((half) => `"to" = ${address} AND ${half}`)
  const branches = [
    sent('"from"'),
    sent('fee_payer'),
    ...halves.map((half) => moved(`"from" = ${address} AND ${half}`)),
    ...received.map(moved),
    ...(hasCoin ? ['"from"', '"to"'].map(movedCoin) : []),
    named,
  ]
  return {
    text: `SELECT block_num, tx_idx FROM (${branches.join(' UNION ')}) AS places
      ORDER BY block_num DESC, tx_idx DESC ${limit}`,
    values: parameters.values,
  }
}

/** Each half of the tokens has indexes of its own (migration 5). */
const halves = [tip20Tokens('token'), otherTokens('token')]

const burnTopic = literalBytes(burnAt.topic0)
/** An account that a log names and no transfer does, in the words of its index (migration 34). */
const namedAccount = `(CASE topic0 WHEN ${burnTopic} THEN topic1 ELSE topic2 END)`
const namesAccount = `address = ${literalBytes(receivePolicyGuardAddress)}
        OR topic0 = ${burnTopic} AND ${tip20Tokens('address')}`

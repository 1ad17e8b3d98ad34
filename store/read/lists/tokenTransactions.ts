/**
 * Transactions with a log of one token other than the Transfer that paid their fee. Logs and
 * transactions are two tables, so this is no declared list: two indexes give the places in order,
 * and only those of the page are looked up in `txs`.
 */
import { Parameters, quoteIdentifier } from '../../sql.ts'
import type { WalkQuery } from './read.ts'
import { isDeposit, isFeeManagerTransfer, placeCondition } from './statement.ts'

export interface TokenTransactionFilters {
  readonly token: string
  readonly feePayer?: string | undefined
  readonly feeToken?: string | undefined
}

export interface TokenStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The rows of `txs`, in the query's order. */
export function compileTokenTransactions(
  schema: string,
  filters: TokenTransactionFilters,
  query: WalkQuery,
): TokenStatement {
  const parameters = new Parameters()
  const places = placesOf(schema, filters, query, query.offset + query.limit, parameters)
  const order = (alias: string, index: string) =>
    `${alias}.block_num ${query.order}, ${alias}.${index} ${query.order}`
  const text = `SELECT txs.* FROM (
      SELECT * FROM (${places}) AS found ORDER BY ${order('found', 'tx_idx')}
      LIMIT ${query.limit} OFFSET ${query.offset}
    ) AS page
    JOIN ${relation(schema, 'txs')} AS txs ON txs.block_num = page.block_num AND txs.idx = page.tx_idx
    ORDER BY ${order('txs', 'idx')}`
  return { text, values: parameters.values }
}

/** How many there are, counted up to `max`; one row `n`. */
export function compileTokenTransactionCount(
  schema: string,
  filters: TokenTransactionFilters,
  query: WalkQuery,
  max: number,
): TokenStatement {
  const parameters = new Parameters()
  const { position: _, ...whole } = query
  const places = placesOf(schema, filters, whole, max, parameters)
  const text = `SELECT count(*) AS n FROM (SELECT * FROM (${places}) AS found LIMIT ${max}) AS counted`
  return { text, values: parameters.values }
}

/** Each place once: the first `rows` of either index hold the first `rows` of both. */
function placesOf(
  schema: string,
  filters: TokenTransactionFilters,
  query: WalkQuery,
  rows: number,
  parameters: Parameters,
): string {
  const paid = paidTransactions(schema, filters, query, parameters)
  const place = placeCondition(query, parameters, ['block_num', 'tx_idx'])
  const token = parameters.bytes(filters.token)
  const order = `ORDER BY block_num ${query.order}, tx_idx ${query.order}`
  const logs = `(SELECT DISTINCT block_num, tx_idx FROM ${relation(schema, 'logs')}
      ${paid && `JOIN (${paid}) AS paid USING (block_num, tx_idx)`}
    WHERE address = ${token} AND ${isFeeManagerTransfer} IS NOT TRUE AND ${place} ${order} LIMIT ${rows})`
  // Deposits are few, but a planner takes them for many, because nearly everything the fee manager
  // gets is a fee, and would begin with all that the payer paid. OFFSET 0 makes it look up each
  // deposit's transaction instead.
  const deposits = `(SELECT DISTINCT block_num, tx_idx FROM ${relation(schema, 'token_transfers')} AS deposits
      ${paid && `CROSS JOIN LATERAL (${paid} AND txs.block_num = deposits.block_num AND idx = deposits.tx_idx OFFSET 0) AS paid (paid_block, paid_idx)`}
    WHERE token = ${token} AND ${isDeposit} AND ${place} ${order} LIMIT ${rows})`
  return `${logs} UNION ${deposits}`
}

/**
 * Payer and fee token stand in `txs`; empty where no filter asks. Both sides of a merge have to
 * begin at the page.
 */
function paidTransactions(
  schema: string,
  { feePayer, feeToken }: TokenTransactionFilters,
  query: WalkQuery,
  parameters: Parameters,
): string {
  const conditions = [
    feePayer && `fee_payer = ${parameters.bytes(feePayer)}`,
    feeToken && `paid_fee_token = ${parameters.bytes(feeToken)}`,
  ].filter(Boolean)
  if (conditions.length === 0) return ''
  const place = placeCondition(query, parameters, ['block_num', 'idx'])
  return `SELECT block_num, idx AS tx_idx FROM ${relation(schema, 'txs')} AS txs
    WHERE ${conditions.join(' AND ')} AND ${place}`
}

const relation = (schema: string, table: string): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`

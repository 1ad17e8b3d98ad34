/**
 * Fees as inputs of the pools' fold: the closing transfers of a block's transactions, with the most
 * that their gas might have cost. That bound is the gas limit at the price charged, which is counted
 * from what the transaction signed and the header holds: a receipt's price is the node's own word.
 */
import type { BlockRange } from '#ingest/range.ts'
import { type Address, address } from '#primitives.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toHex } from '../../sql.ts'
import { quoteTokenSql } from '../exchange/quoteTokens.ts'
import type { PoolEvent, PoolPlace, SingleFee } from './pools.ts'

interface FeeRow {
  readonly block_num: number
  readonly block_timestamp: Date
  readonly miner: Buffer
  readonly token: Buffer
  readonly paid: string
  readonly most: string
}

/** Fees of each block and token as one sum. */
export async function readCollected(
  client: Queryable,
  schema: string,
  blocks: BlockRange,
): Promise<readonly PoolEvent[]> {
  const found = await client.query<FeeRow & { last_log: number; paid_out: string }>(
    `SELECT block_num, block_timestamp, miner, token, max(log_idx) AS last_log, sum(amount) AS paid,
       sum(div(amount * 9970, 10000)) AS paid_out, max(most) AS most
     FROM (${feesSql(schema)}) AS fees GROUP BY block_num, block_timestamp, miner, token`,
    [blocks.from, blocks.to],
  )
  return found.rows.map((row) => ({
    ...{ kind: 'collected', place: placeOf(row, row.last_log) },
    ...{ validator: addressOf(row.miner), token: addressOf(row.token) },
    ...{ paid: BigInt(row.paid), paidOut: BigInt(row.paid_out), most: BigInt(row.most) },
  }))
}

/** Each fee as two events: before the first log of its transaction, and at its own, the last one. */
export async function readSingle(
  client: Queryable,
  schema: string,
  blocks: BlockRange,
  twoHopsSince: number,
): Promise<readonly PoolEvent[]> {
  const quote = quoteTokenSql(schema, {
    ...{ token: 'fees.token', block: 'fees.block_num', log: 'fees.first_log' },
  })
  const found = await client.query<FeeRow & { first_log: number; log_idx: number; quote: Buffer | null }>(
    `SELECT fees.*, amount AS paid, ${quote} AS quote FROM (${feesSql(schema)}) AS fees ORDER BY block_num, log_idx`,
    [blocks.from, blocks.to],
  )
  return found.rows.flatMap((row): PoolEvent[] => {
    const begins = placeOf(row, row.first_log)
    const fee: SingleFee = {
      ...{ validator: addressOf(row.miner), token: addressOf(row.token), paid: BigInt(row.paid) },
      ...{ quote: row.quote && addressOf(row.quote), most: BigInt(row.most) },
      mayTakeTwoHops: begins.timestampSeconds >= twoHopsSince,
    }
    return [
      { kind: 'routed', place: begins, fee },
      { kind: 'paid', place: placeOf(row, row.log_idx), fee },
    ]
  })
}

/** One row for each fee of the blocks from $1 to $2; it is the last log of its transaction. */
function feesSql(schema: string): string {
  const table = (name: string) => relationOf(schema, name)
  return `SELECT fees.block_num, fees.block_timestamp, blocks.miner, fees.token, fees.log_idx, fees.amount,
      fees.log_idx - txs.log_count + 1 AS first_log,
      div(txs.gas_limit * coalesce(CASE WHEN txs.max_fee_per_gas IS NOT NULL THEN
          least(txs.max_fee_per_gas, blocks.base_fee_per_gas + coalesce(txs.max_priority_fee_per_gas, 0)) END,
        txs.gas_price, txs.effective_gas_price, 0) + 999999999999, 1000000000000) AS most
    FROM ${table('token_transfers')} AS fees JOIN ${table('blocks')} AS blocks ON blocks.num = fees.block_num
    JOIN ${table('txs')} AS txs ON txs.block_num = fees.block_num AND txs.idx = fees.tx_idx
    WHERE fees.is_fee AND fees.block_num BETWEEN $1 AND $2`
}

const placeOf = ({ block_num, block_timestamp }: FeeRow, logIndex: number): PoolPlace => ({
  ...{ blockNumber: block_num, logIndex, timestampSeconds: block_timestamp.getTime() / 1000 },
})

const addressOf = (bytes: Buffer): Address => address(toHex(bytes))

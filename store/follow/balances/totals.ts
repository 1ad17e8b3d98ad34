/**
 * How many hold a token, how much of it there is, and how often it moved; now, or as of a block.
 */
import { failure } from '#errors.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { Parameters, relationOf, toBytes, toHex } from '../../sql.ts'
import { balanceAtSql, findCheckpoint } from './checkpoints.ts'
import { changedSql } from './compileBalances.ts'
import { assertReached, type Changes, changesSince } from './moment.ts'
import { movedSql } from './movedSql.ts'

export interface TokenTotals {
  /** Holders of more than zero; null where genesis gave some to accounts nobody knows of. */
  readonly holderCount: number | null
  /** The mints less the burns; below zero if a contract's transfers make no sense. */
  readonly totalSupply: bigint
  readonly transferCount: number
  /** Null before the first transfer. */
  readonly firstTransferAtSeconds: number | null
  readonly lastTransferAtSeconds: number | null
}

/** Totals of a token that never moved and that nobody holds. */
export const noTotals: TokenTotals = {
  holderCount: 0,
  totalSupply: 0n,
  transferCount: 0,
  firstTransferAtSeconds: null,
  lastTransferAtSeconds: null,
}

interface TotalsRow {
  token: Buffer
  holder_count: string
  total_supply: string
  transfer_count: string
  first_transfer_at: Date | null
  last_transfer_at: Date | null
  genesis_missing: string
}

/** The newest totals, of tokens that have any. */
export async function readTotals(
  client: Queryable,
  schema: string,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, TokenTotals>> {
  const found = await client.query<TotalsRow>(
    `SELECT token, holder_count::text, total_supply, transfer_count::text, first_transfer_at, last_transfer_at, genesis_missing
     FROM ${relationOf(schema, 'token_totals')} WHERE token = ANY ($1)`,
    [tokens.map(toBytes)],
  )
  return new Map(found.rows.map((row) => [toHex(row.token), totalsOf(row)]))
}

/**
 * One token's totals as of a block; `tip` is the block of the newest ones. @throws
 * BlockNotReachedError for a later block
 */
export async function readTotalsAt(
  client: Queryable,
  schema: string,
  token: string,
  { block, tip }: { readonly block: number; readonly tip: number },
): Promise<TokenTotals> {
  assertReached(block, tip)
  if (block === tip) return (await readTotals(client, schema, [token])).get(token) ?? noTotals
  const parameters = new Parameters()
  const address = parameters.bytes(token)
  const at = parameters.add(block)
  const written = block <= (await findCheckpoint(client, schema, tip))
  const past = written
    ? pastSql(schema, parameters.add(await findCheckpoint(client, schema, block)), at, address)
    : undoneSql(schema, await changesSince(client, schema, block, tip), token, address, parameters)
  const kept = `${relationOf(schema, 'token_transfers')} WHERE token = ${address} AND block_num <= ${at}`
  const found = await client.query<TotalsRow>(
    `WITH past AS (${past})
     SELECT ${address}::bytea AS token, holder_count::text, total_supply, transfer_count::text,
       (SELECT block_timestamp FROM ${kept} ORDER BY block_num, log_idx LIMIT 1) AS first_transfer_at,
       (SELECT block_timestamp FROM ${kept} ORDER BY block_num DESC, log_idx DESC LIMIT 1) AS last_transfer_at,
       genesis_missing
     FROM past`,
    parameters.values,
  )
  const row = found.rows[0]
  return row ? totalsOf(row) : noTotals
}

/**
 * One row where the token has totals, else none: what was written for its last block, and what
 * genesis gave. A holder of genesis counts if it had something, and no longer for its transfers
 * alone.
 */
const pastSql = (schema: string, checkpoint: string, at: string, address: string): string =>
  `SELECT coalesce(kept.holder_count, 0) + given.holders AS holder_count,
     coalesce(kept.total_supply, 0) + given.supply + genesis_missing AS total_supply,
     coalesce(kept.transfer_count, 0) AS transfer_count, genesis_missing
   FROM ${relationOf(schema, 'token_totals')} AS totals
   LEFT JOIN LATERAL (SELECT * FROM ${relationOf(schema, 'token_totals_history')} AS kept
     WHERE kept.token = totals.token AND block_num <= ${at} ORDER BY block_num DESC LIMIT 1) AS kept ON true
   CROSS JOIN LATERAL (
     SELECT coalesce(sum((held > 0)::int - (held - balance > 0)::int), 0) AS holders, coalesce(sum(balance), 0) AS supply
     FROM (SELECT balance, ${balanceAtSql(schema, checkpoint, 'given.token', 'given.holder')} + coalesce((
             ${movedSql(schema, 'given.holder', 'given.token', `block_num > ${checkpoint} AND block_num <= ${at}`)}), 0) AS held
           FROM ${relationOf(schema, 'genesis_balances')} AS given WHERE given.token = totals.token OFFSET 0) AS given) AS given
   WHERE totals.token = ${address}`

/** The same from the newest totals, with the changes since undone. */
function undoneSql(
  schema: string,
  changes: Changes,
  token: string,
  address: string,
  parameters: Parameters,
): string {
  return `WITH changed AS MATERIALIZED (
      SELECT delta, coalesce((SELECT state.balance FROM ${relationOf(schema, 'balances')} AS state
                              WHERE state.token = ${address} AND state.holder = moved.address), 0) AS now
      FROM (${changedSql(schema, changes, { token }, address, parameters)}) AS moved)
    SELECT holder_count + coalesce((SELECT sum((now - delta > 0)::int - (now > 0)::int) FROM changed), 0) AS holder_count,
      total_supply - coalesce((SELECT sum(delta) FROM changed), 0) AS total_supply,
      transfer_count - (${transfersSql(schema, changes, address, parameters)}) AS transfer_count, genesis_missing
    FROM ${relationOf(schema, 'token_totals')} WHERE token = ${address}`
}

function transfersSql(
  schema: string,
  { blocks, stored }: Changes,
  address: string,
  parameters: Parameters,
): string {
  const within = `token = ${address} AND block_num BETWEEN ${parameters.add(blocks.from)} AND ${parameters.add(blocks.to)}`
  return stored
    ? `SELECT coalesce(sum(transfer_count), 0) FROM ${relationOf(schema, 'token_changes')} WHERE ${within}`
    : `SELECT count(*) FROM ${relationOf(schema, 'token_transfers')} WHERE ${within}`
}

function totalsOf(row: TotalsRow): TokenTotals {
  return {
    holderCount: row.genesis_missing === '0' ? Number(row.holder_count) : null,
    totalSupply: BigInt(row.total_supply),
    transferCount: Number(row.transfer_count),
    firstTransferAtSeconds: row.first_transfer_at && row.first_transfer_at.getTime() / 1000,
    lastTransferAtSeconds: row.last_transfer_at && row.last_transfer_at.getTime() / 1000,
  }
}

/**
 * Balances of a holder, or of a token, are told only where all that genesis gave is known.
 * @throws GenesisIncompleteError naming the token
 */
export async function assertGenesisKnown(
  client: Queryable,
  schema: string,
  of: { readonly holder: string } | { readonly token: string },
): Promise<void> {
  const address = 'token' in of ? of.token : of.holder
  const found = await client.query<{ token: Buffer }>(genesisUnknownSql(schema, of, '$1'), [toBytes(address)])
  const row = found.rows[0]
  if (row) throw new GenesisIncompleteError(toHex(row.token))
}

/**
 * A token of which genesis gave the holder, or anybody, amounts that nobody knows of; no row where
 * all is known.
 */
export function genesisUnknownSql(
  schema: string,
  of: { readonly holder: string } | { readonly token: string },
  address: string,
): string {
  const condition =
    'token' in of
      ? `totals.token = ${address}`
      : `NOT EXISTS (SELECT FROM ${relationOf(schema, 'genesis_balances')} AS given
           WHERE given.token = totals.token AND given.holder = ${address})`
  return `SELECT totals.token FROM ${relationOf(schema, 'token_totals')} AS totals
    WHERE genesis_missing <> 0 AND ${condition} LIMIT 1`
}

/** Genesis gave amounts of a token to accounts that nobody knows of. */
export class GenesisIncompleteError extends failure('GenesisIncompleteError', 'coverage_incomplete', 'stop') {
  readonly token: string

  constructor(token: string) {
    super(`What genesis gave of token ${token} is not known completely, so its balances are not told.`)
    this.token = token
  }
}

/** How many hold a token, how much of it there is, and how often it moved; now, or as of a block. */
import { MillraceError } from '../../errors.ts'
import type { Queryable } from '../lane.ts'
import { Parameters } from '../lists/statement.ts'
import { relationOf, toBytes, toHex } from '../postgres.ts'
import { changedSql } from './compileBalances.ts'
import type { Moment } from './moment.ts'

export interface TokenTotals {
  /** Holders of more than zero; null where genesis gave some to accounts nobody knows of. */
  readonly holderCount: number | null
  /** What was minted less what was burned; below zero where a contract's transfers make no sense. */
  readonly totalSupply: bigint
  readonly transferCount: number
  /** Null before the first transfer. */
  readonly firstTransferAtSeconds: number | null
  readonly lastTransferAtSeconds: number | null
}

/** Of a token that never moved and that nobody holds. */
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

/** One token's totals as of a block. */
export async function readTotalsAt(
  client: Queryable,
  schema: string,
  token: string,
  moment: Moment,
): Promise<TokenTotals> {
  const { changes, block } = moment
  if (!changes) return (await readTotals(client, schema, [token])).get(token) ?? noTotals
  const parameters = new Parameters()
  const address = parameters.bytes(token)
  const changed = changedSql(schema, changes, { own: 'token', other: 'holder', address }, parameters)
  const { sign } = changes
  const transfers = transfersSql(schema, changes, address, parameters)
  const at = parameters.add(block)
  const kept = `${relationOf(schema, 'token_transfers')} WHERE token = ${address} AND block_num <= ${at}`
  const found = await client.query<TotalsRow>(
    `WITH changed AS MATERIALIZED (${changed}),
     moved AS (
       SELECT coalesce(state.balance, 0) AS before, coalesce(state.balance, 0) ${sign} delta AS after
       FROM changed LEFT JOIN ${relationOf(schema, moment.base)} AS state ON state.token = ${address} AND state.holder = changed.address),
     base AS (${baseSql(schema, moment, address)})
     SELECT ${address}::bytea AS token,
       (base.holder_count + coalesce((SELECT sum((after > 0)::int - (before > 0)::int) FROM moved), 0))::text AS holder_count,
       base.total_supply + coalesce((SELECT sum(after - before) FROM moved), 0) AS total_supply,
       (base.transfer_count ${sign} (${transfers}))::text AS transfer_count,
       (SELECT block_timestamp FROM ${kept} ORDER BY block_num, log_idx LIMIT 1) AS first_transfer_at,
       (SELECT block_timestamp FROM ${kept} ORDER BY block_num DESC, log_idx DESC LIMIT 1) AS last_transfer_at,
       base.genesis_missing
     FROM base`,
    parameters.values,
  )
  const row = found.rows[0]
  return row ? totalsOf(row) : noTotals
}

/** One row where the token has totals, else none: the totals of the stored state. */
function baseSql(schema: string, { base }: Moment, address: string): string {
  const totals = `${relationOf(schema, 'token_totals')} AS totals WHERE token = ${address}`
  if (base === 'balances')
    return `SELECT holder_count, total_supply, transfer_count, genesis_missing FROM ${totals}`
  return `SELECT held.holder_count, held.total_supply + genesis_missing AS total_supply, 0::bigint AS transfer_count, genesis_missing
    FROM (SELECT count(*) FILTER (WHERE balance > 0) AS holder_count, coalesce(sum(balance), 0) AS total_supply
          FROM ${relationOf(schema, base)} WHERE token = ${address}) AS held, ${totals}`
}

function transfersSql(
  schema: string,
  { blocks, stored }: NonNullable<Moment['changes']>,
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
  const [condition, address] =
    'token' in of
      ? ['token = $1', of.token]
      : [
          `NOT EXISTS (SELECT FROM ${relationOf(schema, 'genesis_balances')} AS given
                       WHERE given.token = totals.token AND given.holder = $1)`,
          of.holder,
        ]
  const found = await client.query<{ token: Buffer }>(
    `SELECT token FROM ${relationOf(schema, 'token_totals')} AS totals WHERE genesis_missing <> 0 AND ${condition} LIMIT 1`,
    [toBytes(address)],
  )
  const row = found.rows[0]
  if (row) throw new GenesisIncompleteError(toHex(row.token))
}

/** Genesis gave amounts of a token to accounts that nobody knows of. */
export class GenesisIncompleteError extends MillraceError {
  override readonly name = 'GenesisIncompleteError'
  readonly code = 'coverage_incomplete'
  readonly remedy = 'stop'
  readonly token: string

  constructor(token: string) {
    super(`What genesis gave of token ${token} is not known completely, so its balances are not told.`)
    this.token = token
  }
}

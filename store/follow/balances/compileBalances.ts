/**
 * Statements over balances as of a block, largest first: of one holder or of one token. The stored
 * state is walked by its index without those that changed since; what these had then is computed
 * and merged in.
 */
import { behind, otherTokens, Parameters, relationOf, tip20Tokens, toBytes } from '../../sql.ts'
import { balanceAtSql } from './checkpoints.ts'
import type { Changes, Moment } from './moment.ts'
import { movedSql } from './movedSql.ts'
import { differsSql } from './samples.ts'

/** A holder's balances in the tokens that `tokens` chooses, or those of a token's holders. */
export type BalancesOf =
  | { readonly holder: string; readonly tokens: TokenChoice }
  | { readonly token: string }

export interface TokenChoice {
  /** TIP-20 tokens, or all others. */
  readonly tip20: boolean
  /** Only these of them. */
  readonly only?: readonly string[] | undefined
  readonly without?: readonly string[] | undefined
  /** Only those of them that stand for this currency, in any case. */
  readonly currency?: string | undefined
}

export interface BalancesQuery {
  readonly limit: number
  readonly offset: number
  /** Continue after this row. */
  readonly position?: BalancePosition | undefined
}

interface BalancePosition {
  /** Decimal digits. */
  readonly balance: string
  readonly address: string
}

export interface BalancesStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Largest first. */
export const balanceOrder = '-balance, address'

/**
 * Rows `address` (the token, or the holder), `balance` and `approximate`, those with more than zero:
 * whether the sum of the transfers was below zero by then, so that no log tells all, or the token's
 * contract has said otherwise of any holder, of whichever block.
 */
export function compileBalances(
  schema: string,
  of: BalancesOf,
  moment: Moment,
  { limit, offset, position }: BalancesQuery,
): BalancesStatement {
  const parameters = new Parameters()
  // Parameters, so that a page of any length is the same statement.
  const end = `ORDER BY ${balanceOrder} LIMIT ${parameters.add(offset + limit)}`
  const found = compileFound(schema, of, moment, position, end, parameters)
  const page = `SELECT address, balance FROM (${found.branches}) AS found
    ORDER BY ${balanceOrder} LIMIT ${parameters.add(limit)} OFFSET ${parameters.add(offset)}`
  const text = `${found.changes} SELECT address, balance, ${approximateSql(schema, of, moment, parameters)} AS approximate
    FROM (${page}) AS page ORDER BY ${balanceOrder}`
  return { text, values: parameters.values }
}

function approximateSql(schema: string, of: BalancesOf, moment: Moment, parameters: Parameters): string {
  const [own, other] = 'holder' in of ? ['holder', 'token'] : ['token', 'holder']
  const address = parameters.bytes('holder' in of ? of.holder : of.token)
  const since = moment.changes ? `<= ${parameters.add(moment.block)}` : 'IS NOT NULL'
  const isMarked = `EXISTS (SELECT FROM ${relationOf(schema, 'balances')} AS marked
    WHERE marked.${own} = ${address} AND marked.${other} = page.address AND marked.below_since ${since})`
  return `(${isMarked} OR ${differsSql(schema, 'holder' in of ? 'page.address' : address)})`
}

/** One row `n`: how many there are, counted up to `max`. */
export function compileBalanceCount(
  schema: string,
  of: BalancesOf,
  moment: Moment,
  max: number,
): BalancesStatement {
  const parameters = new Parameters()
  const found = compileFound(schema, of, moment, undefined, `LIMIT ${max}`, parameters)
  const text = `${found.changes} SELECT count(*) AS n FROM (SELECT * FROM (${found.branches}) AS found LIMIT ${max}) AS counted`
  return { text, values: parameters.values }
}

/**
 * `changes` defines what changed; each branch is limited by `end`, for a page needs at most that
 * many rows of each.
 */
function compileFound(
  schema: string,
  of: BalancesOf,
  moment: Moment,
  position: BalancePosition | undefined,
  end: string,
  parameters: Parameters,
): { readonly changes: string; readonly branches: string } {
  const { base, changes } = moment
  const [own, other] = 'holder' in of ? ['holder', 'token'] : ['token', 'holder']
  const address = parameters.bytes('holder' in of ? of.holder : of.token)
  const state = base === 'newest' ? relationOf(schema, 'balances') : 'state'
  const named =
    base === 'newest'
      ? []
      : [`state AS MATERIALIZED (${stateSql(schema, of, base.checkpoint, address, parameters)})`]
  const place = position && [
    `-${parameters.add(position.balance)}::numeric`,
    parameters.bytes(position.address),
  ]
  const chosen = 'holder' in of ? choose(schema, of.tokens, parameters) : () => []
  const conditions = (column: string) =>
    ['balance > 0', ...chosen(column), ...(place ? [behind(['-balance', column], 'asc', place)] : [])].join(
      ' AND ',
    )
  const unchanged = `SELECT ${other} AS address, balance FROM ${state} AS state WHERE ${own} = ${address} AND ${conditions(other)}`
  if (!changes) return { changes: withSql(named), branches: `${unchanged} ${end}` }
  const moved = `SELECT address, balance FROM (
      SELECT changed.address, coalesce(state.balance, 0) ${changes.sign} changed.delta AS balance
      FROM changed LEFT JOIN ${state} AS state ON state.${own} = ${address} AND state.${other} = changed.address
    ) AS moved WHERE ${conditions('address')}`
  return {
    changes: withSql([
      ...named,
      `changed AS MATERIALIZED (${changedSql(schema, changes, of, address, parameters)})`,
    ]),
    branches: `(${unchanged} AND NOT EXISTS (SELECT FROM changed WHERE changed.address = state.${other}) ${end})
      UNION ALL (${moved} ${end})`,
  }
}

const withSql = (named: readonly string[]): string => (named.length > 0 ? `WITH ${named.join(', ')}` : '')

/** Balances at a checkpoint, with the columns of `balances`; those of nothing may be missing. */
function stateSql(
  schema: string,
  of: BalancesOf,
  checkpoint: number,
  address: string,
  parameters: Parameters,
): string {
  const at = parameters.add(checkpoint)
  // Every token of a holder is looked up: `balances` has a row for each that it ever had.
  if ('holder' in of)
    return `SELECT holder, token, ${balanceAtSql(schema, at, 'held.token', 'held.holder')} AS balance
      FROM ${relationOf(schema, 'balances')} AS held WHERE holder = ${address}`
  return `SELECT ${address}::bytea AS token, holder, sum(balance) AS balance FROM (
      (SELECT DISTINCT ON (holder) holder, balance FROM ${relationOf(schema, 'balance_checkpoints')}
       WHERE token = ${address} AND block_num <= ${at} ORDER BY holder DESC, block_num DESC)
      UNION ALL SELECT holder, balance FROM ${relationOf(schema, 'genesis_balances')} WHERE token = ${address}
    ) AS held GROUP BY holder`
}

/**
 * By how much each balance changed in the blocks of a moment's changes; rows `address` and `delta`.
 */
export function changedSql(
  schema: string,
  { blocks, stored }: Changes,
  of: { readonly holder: string } | { readonly token: string },
  address: string,
  parameters: Parameters,
): string {
  const table = relationOf(schema, stored ? 'balance_changes' : 'holder_deltas')
  const sum = `sum(${stored ? 'delta' : 'leg * amount'}) AS delta`
  const within = `block_num BETWEEN ${parameters.add(blocks.from)} AND ${parameters.add(blocks.to)}`
  if ('token' in of)
    return `SELECT holder AS address, ${sum} FROM ${table} WHERE token = ${address} AND ${within} GROUP BY holder`
  if (stored)
    return `SELECT token AS address, ${sum} FROM ${table} WHERE holder = ${address} AND ${within} GROUP BY token`
  // Token by token: the index has the block behind the token, and a holder's rows of other blocks
  // may be a million.
  return `SELECT held.token AS address, delta FROM ${relationOf(schema, 'balances')} AS held
    CROSS JOIN LATERAL (${movedSql(schema, 'held.holder', 'held.token', within)}) AS moved
    WHERE held.holder = ${address} AND delta IS NOT NULL`
}

/**
 * Conditions on the column of the token. The first is that of the index (migration 15), in its
 * words.
 */
function choose(
  schema: string,
  { tip20: inside, only, without, currency }: TokenChoice,
  parameters: Parameters,
): (column: string) => readonly string[] {
  const list = (tokens: readonly string[] | undefined) => tokens && parameters.add(tokens.map(toBytes))
  const [onlyList, withoutList] = [list(only), list(without)]
  const standsFor = currency === undefined ? undefined : parameters.add(currency)
  return (column) => [
    inside ? tip20Tokens(column) : otherTokens(column),
    ...(onlyList ? [`${column} = ANY (${onlyList})`] : []),
    ...(withoutList ? [`${column} <> ALL (${withoutList})`] : []),
    ...(standsFor
      ? [
          `${column} IN (SELECT named.token FROM ${relationOf(schema, 'tokens_current')} AS named
             WHERE lower(named.currency) = lower(${standsFor}))`,
        ]
      : []),
  ]
}

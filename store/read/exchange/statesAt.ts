/**
 * States of a fold's entities after a block, in an order that has an index: those that did not
 * change since stand in the table of the newest states, what the others were then in their history.
 */
import type { Queryable } from '../../ledger/lane.ts'
import { behind, type Parameters, relationOf } from '../../sql.ts'

export interface StatesQuery {
  /** A table with `life`. */
  readonly table: string
  readonly block: number
  /** The conditions that each row satisfies; several sets of them are read apart, each by its own index. */
  readonly branches: readonly string[]
  /** Expressions of the order, all in one direction. */
  readonly orderBy: readonly string[]
  readonly order: 'asc' | 'desc'
  /** Rows after these values of the order. */
  readonly after?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

/** Values stand in `parameters` already, where the branches and `after` need some. */
export function compileStatesAt(schema: string, query: StatesQuery, parameters: Parameters): string {
  const { orderBy, order, after, limit, offset } = query
  const sorted = `ORDER BY ${orderBy.map((expression) => `${expression} ${order}`).join(', ')}`
  const beyond = after ? ` AND ${behind(orderBy, order, after)}` : ''
  const branches = branchesAt(schema, query, parameters).map(
    (branch) => `(${branch}${beyond} ${sorted} LIMIT ${limit + offset})`,
  )
  return `SELECT * FROM (${branches.join(' UNION ALL ')}) AS states ${sorted} LIMIT ${limit} OFFSET ${offset}`
}

/** How many there are, counted up to `max`. */
export async function countStatesAt(
  { client, schema }: { readonly client: Queryable; readonly schema: string },
  query: Pick<StatesQuery, 'table' | 'block' | 'branches'>,
  parameters: Parameters,
  max: number,
): Promise<number> {
  const branches = branchesAt(schema, query, parameters).map((branch) => `(${branch} LIMIT ${max})`)
  const found = await client.query<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT FROM (${branches.join(' UNION ALL ')}) AS states LIMIT ${max}) AS counted`,
    parameters.values,
  )
  return Number(found.rows[0]?.n ?? 0)
}

function branchesAt(
  schema: string,
  { table, block, branches }: Pick<StatesQuery, 'table' | 'block' | 'branches'>,
  parameters: Parameters,
): string[] {
  const at = `${parameters.add(block)}::bigint`
  return branches.flatMap((condition) => [
    `SELECT * FROM ${relationOf(schema, `${table}_current`)} AS state WHERE block_num <= ${at} AND ${condition}`,
    `SELECT * FROM ${relationOf(schema, `${table}_history`)} AS state
     WHERE NOT upper_inf(life) AND life @> ${at} AND ${condition}`,
  ])
}

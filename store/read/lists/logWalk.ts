import type { Queryable } from '../../ledger/lane.ts'
import { Parameters } from '../../sql.ts'
import { cutPage } from './page.ts'
import type { Walk, WalkQuery } from './read.ts'
import { placeCondition } from './statement.ts'

/** Rows that stand where a log does. */
export interface LogWalkOptions<Columns extends Readonly<Record<string, unknown>>, Row> {
  readonly client: Queryable
  /** Has `block_num` and `log_idx`. */
  readonly relation: string
  /** Conditions beside the place; each adds its own parameters. */
  readonly conditions: (parameters: Parameters) => readonly string[]
  readonly rowOf: (columns: Columns) => Row
}

/** A walk over rows of one relation, in the order of their logs. */
export function logWalk<
  Columns extends Readonly<Record<string, unknown>>,
  Row extends { readonly blockNumber: number; readonly logIndex: number },
>({ client, relation, conditions, rowOf }: LogWalkOptions<Columns, Row>): Walk<Row> {
  const select = (query: WalkQuery, what: string, parameters: Parameters) => {
    const own = conditions(parameters)
    const place = placeCondition(query, parameters, ['block_num', 'log_idx'])
    return `SELECT ${what} FROM ${relation} WHERE ${[...own, place].join(' AND ')}`
  }
  return {
    positionOf: ({ blockNumber, logIndex }) => [blockNumber, logIndex],
    rows: async (query) => {
      const parameters = new Parameters()
      const text = `${select(query, '*', parameters)}
        ORDER BY block_num ${query.order}, log_idx ${query.order} LIMIT ${query.limit + 1} OFFSET ${query.offset}`
      const found = await client.query<Columns>(text, parameters.values)
      return cutPage(found.rows.map(rowOf), query.limit)
    },
    count: async ({ position: _, ...query }, max) => {
      const parameters = new Parameters()
      const text = `SELECT count(*) AS n FROM (${select(query, '', parameters)} LIMIT ${max}) AS counted`
      const found = await client.query<{ n: number }>(text, parameters.values)
      return Number(found.rows[0]?.n ?? 0)
    },
  }
}

/** The server's own plans, over tables large enough that scanning one would cost something. */
import { readSnapshot } from '#store/cancel.ts'
import { quoteIdentifier } from '#store/sql.ts'
import { type TableName, tables } from '#transform/tables.ts'
import type { ChainStore } from './chainStore.ts'

export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Subplan Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * Copies the rows of the first `blocks` blocks upwards, `copies` times, and lets the server count
 * them.
 */
export async function copyUpwards(
  store: ChainStore,
  names: readonly TableName[],
  blocks: number,
  copies: number,
): Promise<void> {
  for (const name of names) {
    const { blockColumn, columns } = tables[name]
    const quoted = columns.map((column) => quoteIdentifier(column.name))
    const shifted = columns.map((column) =>
      column.name === blockColumn
        ? `${blockColumn} + ${blocks} * copy`
        : column.name === 'timestamp'
          ? `timestamp + interval '1 day' * copy`
          : quoteIdentifier(column.name),
    )
    const table = `${store.schema}.${name}`
    await store.postgres.pool.query(
      `INSERT INTO ${table} (${quoted}) SELECT ${shifted} FROM ${table}, generate_series(1, ${copies}) AS copy`,
    )
    await store.postgres.pool.query(`ANALYZE ${table}`)
  }
}

/**
 * Every node of a statement's plan as the server reads pages, parents first. With `run` the
 * statement is executed and the nodes say what they read. `prepared`: the one plan there is for any
 * values (lists); else the one for these.
 */
export async function planOf(
  store: ChainStore,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
  { run = false, prepared = false }: { readonly run?: boolean; readonly prepared?: boolean } = {},
): Promise<readonly PlanNode[]> {
  const { signal } = new AbortController()
  const explain = `EXPLAIN (${run ? 'ANALYZE, ' : ''}FORMAT JSON)`
  const explained = await readSnapshot(
    store.postgres,
    signal,
    async (client) => {
      if (!prepared) return client.query<Explained>(`${explain} ${text}`, [...values])
      await client.query(`PREPARE explained AS ${text}`)
      try {
        return await client.query<Explained>(
          `${explain} EXECUTE explained (${values.map(literal).join(', ')})`,
        )
      } finally {
        await client.query('DEALLOCATE ALL')
      }
    },
    prepared ? 'prepared' : 'ofValues',
  )
  const nodes: PlanNode[] = []
  const visit = (node: PlanNode) => {
    nodes.push(node)
    node.Plans?.forEach(visit)
  }
  const plan = explained.rows[0]?.['QUERY PLAN'][0].Plan
  if (plan) visit(plan)
  return nodes
}

interface Explained {
  readonly 'QUERY PLAN': [{ Plan: PlanNode }]
}

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "'{}'" : `ARRAY[${value.map(literal).join(', ')}]`
  return value instanceof Uint8Array ? `'${`\\x${Buffer.from(value).toString('hex')}`}'::bytea` : `${value}`
}

/** Rows that the plan's scans touched, whether they passed or not. */
export function rowsExamined(nodes: readonly PlanNode[]): number {
  return nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce((sum, node) => {
      const perLoop = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)
      return sum + perLoop * (node['Actual Loops'] ?? 1)
    }, 0)
}

export async function indexDefinition(store: ChainStore, name: string): Promise<string> {
  const found = await store.postgres.pool.query<{ indexdef: string }>(
    'SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND indexname = $2',
    [store.schema, name],
  )
  return found.rows[0]?.indexdef ?? ''
}

/**
 * Whether a query can be answered block by block. Filters, joins within a block and aggregates can
 * (an aggregate is then one of each block); a LIMIT or OFFSET chooses among the rows of all blocks,
 * which no single block can know.
 */
import { parse as parseClickHouse } from './clickhouse/parse.ts'
import { loadPostgresGrammar, parsePostgres } from './postgres/parse.ts'
import type { Relation } from './relations.ts'
import type { Engine } from './result.ts'
import { UserQueryError } from './UserQueryError.ts'

/**
 * @throws UserQueryError `sql_refused` naming the clause, or `sql_invalid` for what cannot be read
 */
export async function assertPerBlock(engine: Engine, sql: string): Promise<void> {
  const clause = engine === 'postgres' ? await clauseOfPostgres(sql) : clauseOfClickHouse(sql)
  if (clause === undefined) return
  throw new UserQueryError('sql_refused', `${clause} chooses among the rows of all blocks`, {
    hint: 'a live query is answered block by block: leave it out, or ask with live=snapshot',
  })
}

/**
 * A balance or a candle is made of many blocks: of one block alone it would be something else.
 * @throws UserQueryError `sql_refused` naming the relation
 */
export function assertRelationsPerBlock(known: readonly Relation[], read: readonly string[]): void {
  const across = known.find(({ name, blockColumn }) => blockColumn === null && read.includes(name))
  if (!across) return
  throw new UserQueryError('sql_refused', `a row of ${across.name} is made of many blocks`, {
    hint: 'a live query is answered block by block: ask with live=snapshot',
  })
}

async function clauseOfPostgres(sql: string): Promise<string | undefined> {
  await loadPostgresGrammar()
  const tree = parsePostgres(sql)
  if (someNode(tree, (node) => node['limitOffset'] !== undefined)) return 'OFFSET'
  return someNode(tree, (node) => node['limitCount'] !== undefined) ? 'LIMIT' : undefined
}

function clauseOfClickHouse(sql: string): string | undefined {
  const query: unknown = parseClickHouse(sql)
  const isQuery = (node: Node) => 'orderBy' in node && 'limit' in node
  if (someNode(query, (node) => isQuery(node) && node['offset'] !== undefined)) return 'OFFSET'
  return someNode(query, (node) => isQuery(node) && node['limit'] !== undefined) ? 'LIMIT' : undefined
}

type Node = Readonly<Record<string, unknown>>

/** Walks with a list of its own: a tree as deep as the grammar takes would overflow the stack. */
function someNode(tree: unknown, matches: (node: Node) => boolean): boolean {
  const waiting: unknown[] = [tree]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const node: Node = Object.fromEntries(Object.entries(value))
    if (!Array.isArray(value) && matches(node)) return true
    waiting.push(...Object.values(node).filter((inner) => inner !== undefined))
  }
  return false
}

/**
 * Whether a query can be answered block by block. Filters, joins within a block and aggregates can
 * (an aggregate is then one of each block). A LIMIT or OFFSET chooses among the rows of all blocks,
 * WITH FILL makes rows between them and a window sees them, which no single block can; a window within
 * one block or transaction can.
 */

import { isRecord } from '#primitives.ts'
import { parse as parseClickHouse } from './clickhouse/parse.ts'
import { loadPostgresGrammar, parsePostgres } from './postgres/parse.ts'
import { isQualify } from './postgres/qualify.ts'
import type { Relation } from './relations.ts'
import type { Engine } from './result.ts'
import { UserQueryError } from './UserQueryError.ts'

/**
 * @throws UserQueryError `sql_refused` naming the clause, or `sql_invalid` for what cannot be read
 */
export async function assertPerBlock(engine: Engine, sql: string): Promise<void> {
  const problem = engine === 'postgres' ? await problemOfPostgres(sql) : problemOfClickHouse(sql)
  if (problem === undefined) return
  const own = problem === windowProblem ? 'PARTITION BY block_num keeps it within a block' : 'leave it out'
  throw new UserQueryError('sql_refused', problem, {
    hint: `a live query is answered block by block: ${own}, or ask with live=snapshot`,
  })
}

const windowProblem = 'a window goes over the rows of all blocks'
const choosing = (clause: string): string => `${clause} chooses among the rows of all blocks`

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

async function problemOfPostgres(sql: string): Promise<string | undefined> {
  await loadPostgresGrammar()
  const tree = parsePostgres(sql)
  if (someNode(tree, (node) => node['limitOffset'] !== undefined)) return choosing('OFFSET')
  if (someNode(tree, (node) => node['limitCount'] !== undefined)) return choosing('LIMIT')
  const given = (name: unknown) =>
    someNode(tree, ({ ResTarget: target }) => isNode(target) && target['name'] === name)
  const isNarrow = (expression: unknown) =>
    isNode(expression) && isPlaceName(lastName(expression), (name) => given(name))
  // `OVER w` holds a name alone; what the name stands for is looked at where it is defined.
  const isWide = ({ frameOptions, name, refname, partitionClause }: Node, isDefinition: boolean) =>
    frameOptions !== undefined &&
    !isQualify({ name }) &&
    refname === undefined &&
    (isDefinition || name === undefined) &&
    !listOf(partitionClause).some(isNarrow)
  const hasWide = someNode(tree, (node) => {
    const { over, WindowDef: definition } = node
    return (isNode(over) && isWide(over, false)) || (isNode(definition) && isWide(definition, true))
  })
  return hasWide ? windowProblem : undefined
}

/** The last part of a column reference. */
function lastName({ ColumnRef: reference }: Node): unknown {
  const last = isNode(reference) ? listOf(reference['fields']).at(-1) : undefined
  const text = isNode(last) ? last['String'] : undefined
  return isNode(text) ? text['sval'] : undefined
}

function problemOfClickHouse(sql: string): string | undefined {
  const query: unknown = parseClickHouse(sql)
  const has = (clause: string) => (node: Node) =>
    'orderBy' in node && 'limit' in node && node[clause] !== undefined
  if (someNode(query, has('offset'))) return choosing('OFFSET')
  if (someNode(query, has('limit'))) return choosing('LIMIT')
  if (someNode(query, has('limitBy'))) return choosing('LIMIT BY')
  if (someNode(query, (node) => isNode(node['fill'])))
    return 'WITH FILL makes rows between those of all blocks'
  const given = (name: string) =>
    someNode(query, ({ alias }) => isNode(alias) && String(alias['text']).toLowerCase() === name)
  const isNarrow = (expression: unknown) => {
    if (!isNode(expression) || expression['kind'] !== 'column') return false
    const last = listOf(expression['path']).at(-1)
    return isNode(last) && isPlaceName(String(last['text']).toLowerCase(), given)
  }
  const isWide = ({ partitionBy, base }: Node) =>
    partitionBy !== undefined && base === undefined && !listOf(partitionBy).some(isNarrow)
  return someNode(query, isWide) ? windowProblem : undefined
}

/** Rows with one value of these are of one block, unless the query itself makes such a column. */
const isPlaceName = (name: unknown, isGiven: (name: string) => boolean): boolean =>
  (name === 'block_num' || name === 'tx_hash') && !isGiven(name)

const isNode = (value: unknown): value is Node => isRecord(value)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

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

/** The shape of a query that PostgreSQL's own grammar has read. */
import { findFunction } from '../clickhouse/compile/calls/functions.ts'
import { functionRules } from '../postgres/gate/expressions/functions.ts'
import { isQualify } from '../postgres/gate/qualify.ts'
import { fieldsOf, integerConstant, stringOf } from '../postgres/parse/walk.ts'
import { type ColumnTerm, other, type SelectLevel, type Shape, star, type Term } from './shape.ts'
import { isNode, type Node, nodesIn, nodesOf, partsOf } from './walkTree.ts'

export function postgresShape(tree: unknown): Shape {
  const nodes = [...nodesIn(tree)]
  const selects = nodes.filter(isSelect)
  const top = isNode(tree) ? tree['SelectStmt'] : undefined
  const sets = selects.filter(({ op }) => op !== 'SETOP_NONE')
  const ctes = nodes.flatMap((node) => fieldsOf(node, 'CommonTableExpr')['ctename'] ?? [])
  const tables = nodes
    .map((node) => lower(fieldsOf(node, 'RangeVar')['relname']))
    .filter((name) => name !== null)
  return {
    chooses:
      selects.some(({ limitCount, limitOffset }) => limitCount !== undefined || limitOffset !== undefined) ||
      sets.some(({ all }) => all !== true),
    unites: sets.length > 0,
    levels: selects.map((select) => levelOf(select, select === top)),
    windows: nodes.flatMap(windowsOf),
    relations: tables.filter((name) => !ctes.some((cte) => lower(cte) === name)),
    renamed: nodes.flatMap(renamedIn),
  }
}

/** Both sides of a set stand without the name of their kind. */
const isSelect = (node: Node): boolean => 'limitOption' in node && 'op' in node

function levelOf(select: Node, isTop: boolean): SelectLevel {
  const { targetList, distinctClause, groupClause, havingClause, sortClause, fromClause, whereClause } =
    select
  const items = nodesOf(targetList).map((node) => {
    const { name, val } = fieldsOf(node, 'ResTarget')
    return { alias: lower(name), term: termOf(val) }
  })
  const own = [...nodesIn([targetList, havingClause, sortClause], isSelect)]
  return {
    isTop,
    items,
    hasAggregate: own.some((node) => isAggregate(fieldsOf(node, 'FuncCall'))),
    groupBy: groupClause === undefined ? null : nodesOf(groupClause).map(keyOf),
    // DISTINCT without ON is a list of one empty entry.
    distinct:
      distinctClause === undefined
        ? null
        : nodesOf(distinctClause).flatMap((node) => (Object.keys(node).length > 0 ? keyOf(node) : [])),
    orderBy: nodesOf(sortClause).map((node) => keyOf(fieldsOf(node, 'SortBy')['node'])),
    sources: [...nodesIn(fromClause, isSelect)].flatMap(sourcesOf),
    equal: partsOf(whereClause, conjunctionOf).flatMap(equalIn),
  }
}

const conjunctionOf = (node: Node): unknown => {
  const { boolop, args } = fieldsOf(node, 'BoolExpr')
  return boolop === 'AND_EXPR' ? args : undefined
}

function equalIn(node: Node): readonly (readonly [ColumnTerm, ColumnTerm])[] {
  const { kind, name, lexpr, rexpr } = fieldsOf(node, 'A_Expr')
  const [left, right] = [termOf(lexpr), termOf(rexpr)]
  const isEqual = kind === 'AEXPR_OP' && nodesOf(name).every((part) => stringOf(part) === '=')
  return isEqual && left.kind === 'column' && right.kind === 'column' ? [[left, right]] : []
}

function isAggregate(call: Node): boolean {
  if (call['over'] !== undefined) return false
  if (Object.keys(call).some((key) => key.startsWith('agg_'))) return true
  const name = lower(stringOf(nodesOf(call['funcname']).at(-1)))
  if (name === null) return false
  return functionRules.get(name)?.position === 'aggregate' || findFunction(name)?.rule.kind === 'aggregate'
}

/** `OVER w` holds a name alone; what the name stands for is looked at where it is defined. */
function windowsOf(node: Node): readonly (readonly Term[])[] {
  const { over, WindowDef: definition } = node
  const own = isNode(over) && over['name'] === undefined ? [over] : []
  return [...own, ...(isNode(definition) ? [definition] : [])]
    .filter((window) => window['frameOptions'] !== undefined && window['refname'] === undefined)
    .filter((window) => !isQualify(window))
    .map(({ partitionClause }) => nodesOf(partitionClause).map(termOf))
}

function sourcesOf(node: Node): readonly string[] {
  for (const kind of ['RangeVar', 'RangeSubselect', 'RangeFunction']) {
    const range = fieldsOf(node, kind)
    const name = lower(aliasIn(range)['aliasname'] ?? range['relname'])
    if (name !== null) return [name]
  }
  return []
}

const aliasIn = (range: Node): Node => (isNode(range['alias']) ? range['alias'] : {})

/** The name of a function in FROM is also that of its column. */
function renamedIn(node: Node): readonly string[] {
  const { aliasname, colnames } = { aliasname: undefined, colnames: undefined, ...aliasIn(node) }
  const called = 'functions' in node ? [lower(aliasname)] : []
  const listed = [colnames, node['aliascolnames']].flatMap(nodesOf).map((name) => lower(stringOf(name)))
  return [...called, ...listed].filter((name) => name !== null)
}

/** A key is a term, or the place of an item. */
function keyOf(node: unknown): Term {
  const place = integerConstant(node)
  return place === undefined ? termOf(node) : { kind: 'place', place }
}

function termOf(node: unknown): Term {
  const fields = nodesOf(fieldsOf(node, 'ColumnRef')['fields'])
  const last = fields.at(-1)
  if (last === undefined) return other
  if ('A_Star' in last) return star
  const name = lower(stringOf(last))
  return name === null ? other : { kind: 'column', source: lower(stringOf(fields.at(-2))), name }
}

const lower = (name: unknown): string | null => (typeof name === 'string' ? name.toLowerCase() : null)

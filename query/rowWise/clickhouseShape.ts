/** The shape of a query in ClickHouse's subset. */

import { findFunction } from '../clickhouse/compile/calls/functions.ts'
import type {
  Expression,
  GroupBy,
  Name,
  OrderItem,
  Query,
  Select,
  SetExpression,
} from '../clickhouse/parse/ast.ts'
import {
  type ColumnTerm,
  type LevelItem,
  other,
  type SelectLevel,
  type Shape,
  star,
  type Term,
} from './shape.ts'
import { isNode, type Node, nodesIn, nodesOf, partsOf } from './walkTree.ts'

export function clickhouseShape(query: Query): Shape {
  const nodes = [...nodesIn(query)]
  const ctes = nodes.filter(isQuery).flatMap(({ ctes: list }) => list.map(({ name }) => lower(name)))
  const relations = nodes.flatMap(({ kind, name }) =>
    kind === 'relation' && isName(name) ? lower(name) : [],
  )
  const top = topSelect(query)
  return {
    chooses: nodes.some(isChoosing),
    unites: nodes.some(({ kind }) => kind === 'set'),
    levels: nodes
      .filter(isSelect)
      .map((select) => levelOf(select, select === top, select === top ? query.orderBy : []))
      .concat(top ? [] : [orderOf(query)]),
    windows: nodes
      .filter(({ partitionBy, base }) => partitionBy !== undefined && base === undefined)
      .map(({ partitionBy }) => nodesOf(partitionBy).map(termOf)),
    relations: relations.filter((name) => !ctes.includes(name)),
    renamed: nodes.flatMap(renamedIn),
  }
}

const isQuery = (node: Node): node is Node & Query => 'ctes' in node && 'body' in node
const isSelect = (node: Node): node is Node & Select => node['kind'] === 'select'
const isName = (value: unknown): value is Name => isNode(value) && typeof value['text'] === 'string'

const isChoosing = (node: Node): boolean =>
  (isQuery(node) && [node.limit, node.offset, node.limitBy].some((clause) => clause !== undefined)) ||
  isNode(node['fill']) ||
  (node['kind'] === 'set' && node['isAll'] !== true)

/** The one SELECT whose rows the query gives; undefined for several. */
function topSelect({ body }: Query): Select | undefined {
  let part: SetExpression = body
  while (part.kind === 'nested') part = part.query.body
  return part.kind === 'select' ? part : undefined
}

/** The order of a set's rows. */
const orderOf = ({ orderBy }: Query): SelectLevel => ({
  ...{ isTop: true, items: [], hasAggregate: false, groupBy: null, distinct: null, sources: [], equal: [] },
  orderBy: orderBy.map(({ expression }) => keyOf(expression)),
})

function levelOf(select: Select, isTop: boolean, orderBy: readonly OrderItem[]): SelectLevel {
  const { distinctOn, groupBy, having, from, joins, where } = select
  const sources = [from, ...joins.map((join) => (join.kind === 'join' ? join.source : undefined))]
  const own = [...nodesIn([select.items, having, orderBy], isQuery)]
  return {
    isTop,
    items: select.items.map(
      (item): LevelItem =>
        item.kind === 'star'
          ? { alias: null, term: star }
          : { alias: item.alias ? lower(item.alias) : null, term: termOf(item.expression) },
    ),
    hasAggregate: own.some(isAggregate),
    groupBy: groupBy ? keysOf(groupBy) : null,
    distinct: select.isDistinct || distinctOn.length > 0 ? distinctOn.map(keyOf) : null,
    orderBy: orderBy.map(({ expression }) => keyOf(expression)),
    sources: sources.flatMap((source) => {
      const name = source?.alias ?? (source?.kind === 'relation' ? source.name : undefined)
      return name ? lower(name) : []
    }),
    equal: partsOf(where, ({ kind, word, operands }) =>
      kind === 'logic' && word === 'AND' ? operands : undefined,
    ).flatMap(equalIn),
  }
}

/** None where groups leave keys out. */
const keysOf = ({ modifier, sets, isGroupingSets }: GroupBy): readonly Term[] =>
  modifier === undefined && !isGroupingSets ? sets.flat().map(keyOf) : []

function equalIn({ kind, operator, left, right }: Node): readonly (readonly [ColumnTerm, ColumnTerm])[] {
  if (kind !== 'binary' || (operator !== '=' && operator !== '==')) return []
  const [one, two] = [termOf(left), termOf(right)]
  return one.kind === 'column' && two.kind === 'column' ? [[one, two]] : []
}

const isAggregate = ({ kind, name, over }: Node): boolean =>
  kind === 'call' &&
  over === undefined &&
  typeof name === 'string' &&
  findFunction(name)?.rule.kind === 'aggregate'

function renamedIn(node: Node): readonly string[] {
  const { kind, alias, columns } = node
  const listed = 'query' in node || kind === 'relation' || kind === 'series' ? nodesOf(columns) : []
  const made = kind === 'series' || kind === undefined ? nodesOf(alias) : []
  return [...listed, ...made].flatMap(nameIn)
}

const keyOf = (expression: Expression): Term =>
  expression.kind === 'number' ? { kind: 'place', place: Number(expression.text) } : termOf(expression)

function termOf(node: unknown): Term {
  if (!isNode(node) || node['kind'] !== 'column') return other
  const [name, source] = nodesOf(node['path']).flatMap(nameIn).toReversed()
  return name === undefined ? other : { kind: 'column', source: source ?? null, name }
}

const lower = ({ text }: Name): string => text.toLowerCase()

const nameIn = ({ text }: Node): readonly string[] => (typeof text === 'string' ? [text.toLowerCase()] : [])

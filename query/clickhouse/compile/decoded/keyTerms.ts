/** Finds, in one SELECT, what narrows the decoded tables in its FROM (decoded/keyTerms.ts). */

import {
  type Equality,
  type EqualityConstant,
  type KeyTerm,
  keyTermsOf,
  type NamedSource,
} from '../../../decoded/keyTerms.ts'
import type { Expression, FromItem, Select } from '../../parse/ast.ts'
import type { Compiler } from '../Compiler.ts'

/** By the table in FROM. */
export type KeyTerms = ReadonlyMap<FromItem, readonly KeyTerm[]>

export function findKeyTerms(compiler: Compiler, select: Select): KeyTerms {
  const tables = select.joins.flatMap((join) => (join.kind === 'join' ? [join] : []))
  // ANY, ASOF, SEMI and ANTI choose among the rows of a side: fewer rows there are another choice.
  const isPlain = tables.length === select.joins.length && tables.every(({ strictness }) => !strictness)
  if (!select.from || !isPlain) return new Map()
  const found = [select.from, ...tables.map(({ source }) => source)].map(
    (source): [FromItem, NamedSource] => [source, namedSource(compiler, source)],
  )
  const sources = found.map(([, source]) => source)
  const equalities = conjuncts(select.where).flatMap((conjunct) => equality(conjunct) ?? [])
  const hasMergedColumns = tables.some(({ using }) => using)
  return new Map(
    found.map(([source, named]) => [source, keyTermsOf(named, sources, equalities, hasMergedColumns)]),
  )
}

function namedSource({ ctes, catalog }: Compiler, source: FromItem): NamedSource {
  // Columns under other names are none that a key could be read from.
  if (source.kind !== 'relation' || source.columns.length > 0)
    return { name: source.alias?.text.toLowerCase() ?? '', table: undefined }
  const own = source.name.text.toLowerCase()
  const relation = ctes.has(own) ? undefined : catalog.get(own)
  const table = relation?.source.kind === 'decoded' ? relation.source.table : undefined
  return { name: source.alias?.text.toLowerCase() ?? own, table }
}

/** Conditions that WHERE demands of every row. */
function conjuncts(condition: Expression | undefined): Expression[] {
  if (!condition) return []
  const isAnd = condition.kind === 'logic' && condition.word === 'AND'
  return isAnd ? condition.operands.flatMap(conjuncts) : [condition]
}

function equality(expression: Expression): Equality | undefined {
  if (expression.kind === 'binary' && expression.operator === '=') {
    const sides = [expression.left, expression.right]
    const [column] = sides.flatMap((side) => columnPath(side) ?? [])
    const [value] = sides.flatMap((side) => constant(side) ?? [])
    return column && value && { ...column, values: [value] }
  }
  if (expression.kind !== 'inList' || expression.isNot) return undefined
  const column = columnPath(expression.operand)
  const values = expression.items.flatMap((item) => constant(item) ?? [])
  return column && values.length === expression.items.length ? { ...column, values } : undefined
}

function columnPath(side: Expression): Pick<Equality, 'qualifier' | 'column'> | undefined {
  const [first, second] = side.kind === 'column' ? side.path : []
  if (!first) return undefined
  return second
    ? { qualifier: first.text, column: second.text }
    : { qualifier: undefined, column: first.text }
}

function constant(side: Expression): EqualityConstant | undefined {
  if (side.kind === 'string') return { kind: 'text', text: side.value }
  if (side.kind === 'number') return { kind: 'number', text: side.text }
  const isNegative = side.kind === 'unary' && side.word === '-' && side.operand.kind === 'number'
  return isNegative && side.operand.kind === 'number'
    ? { kind: 'number', text: `-${side.operand.text}` }
    : undefined
}

/**
 * The name of an output column: as the query gives it, else that of the column, else PostgreSQL's
 * for such an expression, so that both engines answer alike.
 */

import type { Expression, SelectItem } from '../parse/ast.ts'

type ColumnExpression = Extract<Expression, { kind: 'column' }>

/** The declared names. */
export interface Declared {
  /** The name of the column that an expression means. */
  readonly columnOf: (column: ColumnExpression) => string | undefined
  /** The one spelling of a name that is a column's; other names are as written. */
  readonly spelled: (name: string) => string
}

export function outputName(item: Extract<SelectItem, { kind: 'item' }>, declared: Declared): string {
  if (item.alias) return declared.spelled(item.alias.text)
  return impliedName(item.expression, declared) ?? '?column?'
}

/** Types that PostgreSQL calls otherwise than SQL does. */
const typeNames: Readonly<Record<string, string>> = {
  bigint: 'int8',
  int: 'int4',
  integer: 'int4',
  smallint: 'int2',
  real: 'float4',
  'double precision': 'float8',
  boolean: 'bool',
  decimal: 'numeric',
}

function impliedName(expression: Expression, declared: Declared): string | undefined {
  const inner = (operand: Expression) => impliedName(operand, declared)
  switch (expression.kind) {
    case 'column':
      return declared.columnOf(expression) ?? expression.path.at(-1)?.text
    case 'call':
      return /^[A-Z_]+$/.test(expression.name) ? expression.name.toLowerCase() : expression.name
    case 'cast': {
      const type = expression.type.name.toLowerCase()
      return inner(expression.operand) ?? typeNames[type] ?? type
    }
    case 'case':
      return 'case'
    case 'array':
      return 'array'
    case 'tuple':
      return 'row'
    case 'extract':
      return 'extract'
    case 'query':
      return expression.isExists ? 'exists' : subqueryName(expression, declared)
    case 'element':
      return inner(expression.operand)
    default:
      return undefined
  }
}

function subqueryName(
  { query }: Extract<Expression, { kind: 'query' }>,
  declared: Declared,
): string | undefined {
  const [item] = query.body.kind === 'select' ? query.body.items : []
  return item?.kind === 'item' ? outputName(item, declared) : undefined
}

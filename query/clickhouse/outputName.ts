/**
 * The name of an output column that the query gives none: PostgreSQL's rule, so that both engines
 * answer alike.
 */

import type { Expression, SelectItem } from './ast.ts'

export function outputName(item: Extract<SelectItem, { kind: 'item' }>): string {
  return item.alias?.text ?? impliedName(item.expression) ?? '?column?'
}

function impliedName(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'column':
      return expression.path.at(-1)?.text
    case 'call':
      return expression.name
    case 'cast':
      return impliedName(expression.operand) ?? expression.type.name.toLowerCase()
    case 'case':
      return 'case'
    case 'array':
      return 'array'
    case 'tuple':
      return 'row'
    case 'extract':
      return 'extract'
    case 'boolean':
      return 'bool'
    case 'query':
      return expression.isExists ? 'exists' : subqueryName(expression)
    case 'element':
      return impliedName(expression.operand)
    default:
      return undefined
  }
}

function subqueryName({ query }: Extract<Expression, { kind: 'query' }>): string | undefined {
  const [item] = query.body.kind === 'select' ? query.body.items : []
  return item?.kind === 'item' ? outputName(item) : undefined
}

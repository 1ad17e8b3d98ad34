/**
 * `x < ANY (…)` and `x < ALL (…)` over an array or a sub-select, with PostgreSQL's three answers. Of a
 * sub-select its least and greatest value decide.
 */

import type { Expression, QuantifiedExpression, Query } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, type NameScope, refused } from '../Compiler.ts'
import { elementOf, scalar } from '../valueType.ts'
import { compileBinary } from './compileComparison.ts'

export function compileQuantified(
  compiler: Compiler,
  expression: QuantifiedExpression,
  scope: NameScope,
): Compiled {
  const { operand, values } = expression
  if (operand.kind === 'tuple')
    throw refused(
      compiler,
      'rows are compared with a sub-select by IN alone',
      operand.at,
      'write (a, b) IN (SELECT …) or (a, b) NOT IN (SELECT …)',
    )
  const sql =
    values.kind === 'query'
      ? overRows(compiler, expression, values.query, scope)
      : overArray(compiler, expression, values, scope)
  return { sql, type: scalar('bool') }
}

const opposite: Readonly<Record<string, string>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** Compares the operand with a value under `word`; no name of a query holds a control character. */
function comparing(compiler: Compiler, { operand, operator, at }: QuantifiedExpression, scope: NameScope) {
  return (value: Compiled, word = operator): string => {
    const parameters = new Map([...scope.parameters, [VALUE, value]])
    const right: Expression = { kind: 'column', path: [{ text: VALUE, at }], at }
    const compared: Expression = { kind: 'binary', operator: word, left: operand, right, at }
    return compileBinary(compiler, compared, { ...scope, parameters }).sql
  }
}

const VALUE = '\u0000value'

/** True of one decides ANY, false of one ALL; what is left is unknown where one is. */
function overArray(
  compiler: Compiler,
  expression: QuantifiedExpression,
  values: Expression,
  scope: NameScope,
): string {
  const word = expression.isAll ? 'ALL' : 'ANY'
  const array =
    values.kind === 'null' || values.kind === 'string' ? undefined : compiler.expression(values, scope)
  if (!array?.type.isArray)
    throw invalid(compiler, `${word} takes an array or a sub-select`, values.at, arrayHint)
  const name = `p${compiler.nextNumber()}`
  const compared = comparing(compiler, expression, scope)({ sql: name, type: elementOf(array.type) })
  const isAmong = (what: string) => `arrayExists(${name} -> ${what}, ${array.sql})`
  const deciding = expression.isAll ? `ifNull(NOT ${compared}, 0)` : `ifNull(${compared}, 0)`
  return `multiIf(${isAmong(deciding)}, ${!expression.isAll}, ${isAmong(`isNull(${compared})`)}, NULL, ${expression.isAll})`
}

const arrayHint = 'write ANY (ARRAY[1, 2]) or ANY (SELECT …); the aggregate is any_value(x)'

function overRows(
  compiler: Compiler,
  expression: QuantifiedExpression,
  query: Query,
  scope: NameScope,
): string {
  const { isAll, operator, operand } = expression
  const { sql: rows, columns } = compiler.withOuter(undefined).query(query)
  const [column, more] = columns
  if (!column || more || column.type.isArray)
    throw invalid(compiler, 'the sub-select needs one column of plain values', query.at)
  const all = `(SELECT tuple(count(), countIf(isNull(${column.sql})), minOrNull(${column.sql}), maxOrNull(${column.sql})) FROM (${rows}))`
  const part = (place: number): Compiled => ({ sql: `tupleElement(${all}, ${place})`, type: column.type })
  const [count, nulls, least, greatest] = [part(1).sql, part(2).sql, part(3), part(4)]
  const compare = comparing(compiler, expression, scope)
  const isBeside = (word: string) =>
    `ifNull(${compare(least, word)}, 0) OR ifNull(${compare(greatest, word)}, 0)`
  const isUnknown = `${count} > 0 AND (isNull(${compiler.expression(operand, scope).sql}) OR ${nulls} > 0)`
  if (isAll) {
    const isFalse = isBeside(opposite[operator] ?? operator)
    return `multiIf(${isFalse}, false, ${isUnknown}, NULL, true)`
  }
  const isTrue = isBeside(operator)
  return compiler.conditions.has(expression)
    ? `(${isTrue})`
    : `multiIf(${isTrue}, true, ${isUnknown}, NULL, false)`
}

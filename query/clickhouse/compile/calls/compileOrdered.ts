/** Aggregates whose values have an order: percentiles, joined texts, arrays. */
import type { CallExpression, Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, type NameScope, refused } from '../Compiler.ts'
import { asNumber } from '../numbers.ts'
import { asText } from '../operators/compileCast.ts'
import { absentWhenEmpty, arrayOf, isNumber, scalar } from '../valueType.ts'
import type { FunctionRule } from './functions.ts'

/** The aggregate; undefined for one whose values have no order. */
export function compileOrdered(
  compiler: Compiler,
  call: CallExpression,
  rule: FunctionRule,
  args: readonly Compiled[],
  scope: NameScope,
): Compiled | undefined {
  const isPercentile = rule.name.startsWith('percentile_')
  if (call.isWithinGroup !== isPercentile)
    throw invalid(
      compiler,
      isPercentile ? `${call.name} needs WITHIN GROUP` : `${call.name} takes no WITHIN GROUP`,
      call.at,
      'write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)',
    )
  if (call.over && (isPercentile || call.orderBy.length > 0 || rule.name === 'string_agg'))
    throw refused(compiler, `${call.name} takes no OVER here`, call.at, 'group in a sub-select and join it')
  if (isPercentile) return percentile(compiler, call, rule, scope)
  if (rule.name === 'string_agg') return joinedText(compiler, call, args, scope)
  if (call.orderBy.length === 0) return undefined
  const [value] = args
  if (rule.name !== 'groupArray' || !value)
    throw refused(compiler, `${call.name} takes no ORDER BY`, call.at, 'use array_agg or string_agg')
  const type = arrayOf(value.type)
  const isPortable = call.name.toLowerCase() === 'array_agg'
  return {
    sql: collected(compiler, call, value.sql, scope),
    type: isPortable ? absentWhenEmpty(type) : type,
  }
}

function percentile(
  compiler: Compiler,
  call: CallExpression,
  { name }: FunctionRule,
  scope: NameScope,
): Compiled {
  const [level] = call.args
  const [order, ...more] = call.orderBy
  if (level?.kind !== 'number' || Number(level.text) > 1 || !order || more.length > 0)
    throw refused(
      compiler,
      `${name} takes a level from 0 to 1, written out, and one value`,
      call.at,
      `write ${name}(0.5) WITHIN GROUP (ORDER BY x)`,
    )
  const value = compiler.expression(order.expression, scope)
  const given = (sql: string) => filtered(compiler, call, sql, scope)
  if (name === 'percentile_cont') {
    if (!isNumber(value.type))
      throw refused(compiler, 'percentile_cont takes numbers', call.at, 'use percentile_disc')
    const asked = order.isDescending ? 1 - Number(level.text) : Number(level.text)
    const float = given(asNumber(value, scalar('float')))
    return { sql: `quantileExactInclusiveOrNull(${asked})(${float})`, type: scalar('float') }
  }
  // The first value that so large a part of all is not beyond.
  const values = `${order.isDescending ? 'arrayReverseSort' : 'arraySort'}(groupArray(${given(value.sql)}))`
  const count = `count(${given(value.sql)})`
  const place = `greatest(1, toUInt64(ceil(${level.text} * ${count})))`
  return { sql: `if(${count} = 0, NULL, arrayElement(${values}, ${place}))`, type: value.type }
}

/** Without NULLs; of nothing it is NULL. */
function joinedText(
  compiler: Compiler,
  call: CallExpression,
  args: readonly Compiled[],
  scope: NameScope,
): Compiled {
  const [value, separator] = args
  if (!value || !separator)
    throw invalid(compiler, 'string_agg takes a text and a separator', call.at, "write string_agg(x, ',')")
  const present = `arrayFilter(x -> isNotNull(x), ${collected(compiler, call, asText(compiler, value, call.at), scope)})`
  const joined = `arrayStringConcat(arrayMap(x -> assumeNotNull(x), ${present}), ${separator.sql})`
  return { sql: `if(length(${present}) = 0, NULL, ${joined})`, type: scalar('text') }
}

function filtered(compiler: Compiler, { filter }: CallExpression, sql: string, scope: NameScope): string {
  return filter ? `if(${compiler.expression(filter, scope).sql}, ${sql}, NULL)` : sql
}

/** An array of the values in their order; with DISTINCT that of the values themselves. */
function collected(compiler: Compiler, call: CallExpression, sql: string, scope: NameScope): string {
  const { orderBy, isDistinct, at, name, filter } = call
  const directions = new Set(orderBy.map(({ isDescending }) => isDescending))
  if (directions.size > 1 || orderBy.some(({ nulls }) => nulls !== undefined))
    throw refused(
      compiler,
      `${name} is ordered in one direction`,
      at,
      'write ORDER BY a, b or ORDER BY a DESC, b DESC',
    )
  const sort = directions.has(true) ? 'arrayReverseSort' : 'arraySort'
  if (isDistinct) {
    if (orderBy.some(({ expression }) => !isSame(expression, call.args[0])))
      throw refused(
        compiler,
        `${name} of DISTINCT values is ordered by them`,
        at,
        `write ${name}(DISTINCT x ORDER BY x)`,
      )
    const condition = filter ? ` FILTER (WHERE ${compiler.expression(filter, scope).sql})` : ''
    const values = `groupUniqArray(tuple(${sql}))${condition}`
    return `arrayMap(r -> r.1, ${sort}(r -> tuple(isNull(r.1), r.1), ${values}))`
  }
  const keys = orderBy.map(({ expression }) => {
    const key = compiler.expression(expression, scope).sql
    return `isNull(${key}), ${key}`
  })
  const kept = filter ? compiler.expression(filter, scope).sql : '1'
  const rows = `arrayFilter(r -> ifNull(r.1, 0) = 1, groupArray(tuple(${kept}, ${sql}, tuple(${['0', ...keys].join(', ')}))))`
  return `arrayMap(r -> r.2, ${sort}(r -> r.3, ${rows}))`
}

/** Whether two expressions are one, their places aside. */
const isSame = (left: Expression, right: Expression | undefined): boolean =>
  right !== undefined && withoutPlaces(left) === withoutPlaces(right)

const withoutPlaces = (expression: Expression): string =>
  JSON.stringify(expression, (key, value: unknown) => (key === 'at' ? undefined : value))

/** sum, avg and their like: exact where PostgreSQL is exact, or an error of the query. */
import type { CallExpression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, refused } from '../Compiler.ts'
import { asNumber, bind, quotient, withinWidth } from '../numbers.ts'
import {
  absentWhenEmpty,
  arrayOf,
  elementOf,
  isNumber,
  isWhole,
  scalar,
  type ValueType,
} from '../valueType.ts'
import { compileOrdered } from './compileOrdered.ts'
import type { FunctionRule } from './functions.ts'

/** Prints an aggregate of these values with the call's own DISTINCT, condition, FILTER and OVER. */
type Print = (name: string, values: readonly string[]) => string

/** The aggregate, where it needs more than the engine's own; undefined where it does not. */
export function compileAggregate(
  compiler: Compiler,
  call: CallExpression,
  rule: FunctionRule,
  args: readonly Compiled[],
  print: Print,
  scope: NameScope,
): Compiled | undefined {
  const [first] = args
  const ordered = compileOrdered(compiler, call, rule, args, scope)
  if (ordered) return ordered
  // The engine's own leaves NULLs out; those in a tuple it keeps.
  if (first && call.name.toLowerCase() === 'array_agg')
    return {
      sql: `arrayMap(r -> r.1, ${print('groupArray', [`tuple(${first.sql})`])})`,
      type: absentWhenEmpty(arrayOf(first.type)),
    }
  if (/^(?:corr|covar)/.test(rule.name)) return correlation(call, rule, args, print)
  if (rule.kind !== 'aggregate' || !first || !isNumber(first.type)) return undefined
  if (rule.name === 'sum') return sumOf(first, print)
  if (rule.name === 'avg') return averageOf(compiler, call, first, print)
  if (rule.name.startsWith('stddev') || rule.name.startsWith('var'))
    return spreadOf(compiler, call, rule, first, print)
  return undefined
}

/**
 * The sum of an array's elements, or of what a lambda makes of them: as exact as the sum of a
 * column.
 */
export function sumOfArray(args: readonly Compiled[]): Compiled | undefined {
  const [first, ...arrays] = args
  if (!first) return undefined
  const array =
    arrays.length > 0 ? `arrayMap(${[first, ...arrays].map(({ sql }) => sql).join(', ')})` : first.sql
  const type = arrays.length > 0 ? first.type : elementOf(first.type)
  if (!isNumber(type)) return undefined
  return sumOf({ sql: 'x', type }, (_, [value]) => `arraySum(x -> ${value}, ${array})`)
}

function sumOf({ sql, type }: Compiled, print: Print): Compiled {
  const signs = {
    ...(type.isUnsigned && { isUnsigned: true as const }),
    ...(type.isOwn && { isOwn: true as const }),
  }
  switch (type.scalar) {
    case 'int':
    case 'bool':
      return { sql: print('sum', [sql]), type: { ...scalar('bigint'), ...signs } }
    case 'bigint':
      return {
        sql: print('sum', [`${type.isUnsigned ? 'toUInt128' : 'toInt128'}(${sql})`]),
        type: { ...scalar('numeric'), ...signs },
      }
    case 'numeric':
    case 'decimal':
      return { sql: checkedSum(sql, type, print), type }
    default:
      return { sql: print('sum', [sql]), type }
  }
}

/**
 * The sum of the same values as floats is off by a part in 2^53 a row; by 2^256 only where the
 * exact one wrapped around.
 */
function checkedSum(sql: string, type: ValueType, print: Print): string {
  const sums = [print('sum', [sql]), print('sum', [`toFloat64(${sql})`])]
  return bind(sums, ([exact = '', estimate = '']) => withinWidth(exact, estimate, type.scale ?? 0))
}

/** PostgreSQL divides the exact sum by the count. */
function averageOf(
  compiler: Compiler,
  call: CallExpression,
  value: Compiled,
  print: Print,
): Compiled | undefined {
  if (value.type.scalar === 'decimal')
    throw refused(
      compiler,
      'avg of numbers with digits behind the point is not supported',
      call.at,
      'cast to float8',
    )
  if (!isWhole(value.type) || value.type.scalar === 'bool') return undefined
  const count = { sql: `greatest(${print('count', [value.sql])}, 1)`, type: scalar('bigint') }
  return quotient(sumOf(value, print), count)
}

/** PostgreSQL's are of floats, and NULL where one of both stands still or there is one row alone. */
function correlation(
  { name: written }: CallExpression,
  { name }: FunctionRule,
  args: readonly Compiled[],
  print: Print,
): Compiled | undefined {
  const isPortable = written.includes('_') || name === 'corr'
  const sides = args.slice(0, 2)
  if (!isPortable || sides.some(({ type }) => !isNumber(type) && type.scalar !== 'null')) return undefined
  const values = sides.map((value) => asNumber(value, scalar('float')))
  return finite(print(`${name}Stable`, values))
}

/** NULL where the engine has no number. */
const finite = (value: string): Compiled => ({
  sql: `arrayElement(arrayMap(x -> if(isFinite(x), x, NULL), [${value}]), 1)`,
  type: scalar('float'),
})

/** PostgreSQL's are exact for exact numbers, and NULL where there is too little to spread. */
function spreadOf(
  compiler: Compiler,
  call: CallExpression,
  { name }: FunctionRule,
  value: Compiled,
  print: Print,
): Compiled | undefined {
  if (!call.name.includes('_') && !['stddev', 'variance'].includes(call.name.toLowerCase())) return undefined
  if (value.type.scalar !== 'float')
    throw refused(compiler, `${call.name} takes floats here`, call.at, `write ${call.name}(x::float8)`)
  return finite(print(`${name}Stable`, [value.sql]))
}

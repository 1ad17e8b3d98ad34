/**
 * `lag(x, n, default)` and `lead`: the default and the values become one type, which the engine wants
 * to be that of the values.
 */

import type { CallExpression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, invalid, type NameScope } from '../Compiler.ts'
import { alternatives } from '../numbers.ts'
import { compileOperands } from '../operators/compileComparison.ts'
import { commonType, isMoment, isNumber, type ValueType } from '../valueType.ts'

/** The arguments of a call; undefined of one without a default. */
export function compileShift(
  compiler: Compiler,
  call: CallExpression,
  scope: NameScope,
): Compiled[] | undefined {
  const [value, offset, otherwise] = call.args
  if (!value || !offset || !otherwise) return undefined
  const operands = compileOperands(compiler, [value, otherwise], scope)
  const [first, second] = operands.map(({ type }) => kindOf(type))
  if (first !== undefined && second !== undefined && first !== second)
    throw invalid(
      compiler,
      `${call.name} gives a ${first}, its default is a ${second}`,
      otherwise.at,
      'cast one of them, or write NULL',
    )
  const [own, given] = alternatives(operands)
  if (!own || !given) return undefined
  const type = commonType([own.type, given.type])
  return [
    { sql: `if(true, ${own.sql}, ${given.sql})`, type },
    compiler.expression(offset, scope),
    { sql: `toNullable(if(true, ${given.sql}, ${own.sql}))`, type },
  ]
}

/** The kind of types that are made one; undefined where any other will do. */
function kindOf(type: ValueType): string | undefined {
  if (type.scalar === 'null' || type.scalar === 'unknown') return undefined
  return isNumber(type) && type.scalar !== 'bool' ? 'number' : isMoment(type) ? 'time' : type.scalar
}

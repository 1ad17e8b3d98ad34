/** Operators: comparisons (constants take the type of the other side), LIKE, IN, arithmetic, concatenation. */

import type { BinaryExpression, Expression, InListExpression, InQueryExpression } from './ast.ts'
import { type Compiled, type Compiler, quoteText, refused, type Scope } from './Compiler.ts'
import { compileStringBeside } from './compileConstant.ts'
import { commonType, scalar, type ValueType } from './valueType.ts'

/** As on Postgres: a pattern is a constant, so that no row can change its cost. */
const patternCharactersMax = 200

const arithmetic: Readonly<Record<string, number>> = { '||': 0, '+': 1, '-': 1, '*': 2, '/': 2, '%': 2 }

export function compileBinary(compiler: Compiler, expression: BinaryExpression, scope: Scope): Compiled {
  const { operator, left, right } = expression
  if (operator in arithmetic) return compileArithmetic(compiler, expression, scope)
  if (operator.endsWith('LIKE')) return compileLike(compiler, expression, scope)
  const [first, second] = compileOperands(compiler, [left, right], scope)
  if (operator.startsWith('IS'))
    return distinctFrom(first?.sql ?? '', second?.sql ?? '', operator.includes('NOT'))
  return { sql: `(${first?.sql} ${operator} ${second?.sql})`, type: scalar('bool') }
}

/** Compiles what is compared with each other; constants among them take the others' type. */
export function compileOperands(
  compiler: Compiler,
  operands: readonly Expression[],
  scope: Scope,
): Compiled[] {
  const fixed = operands.map((operand) =>
    operand.kind === 'string' ? undefined : compiler.expression(operand, scope),
  )
  const type = commonType(fixed.flatMap((operand) => (operand ? [operand.type] : [])))
  return operands.map((operand, index) => {
    if (operand.kind === 'string') return compileStringBeside(compiler, operand, type)
    return fixed[index] ?? compiler.expression(operand, scope)
  })
}

function distinctFrom(left: string, right: string, isNot: boolean): Compiled {
  return { sql: isNot ? `(${left} <=> ${right})` : `(NOT (${left} <=> ${right}))`, type: scalar('bool') }
}

function compileLike(
  compiler: Compiler,
  { operator, left, right, at }: BinaryExpression,
  scope: Scope,
): Compiled {
  if (right.kind !== 'string' || right.value.length > patternCharactersMax) {
    throw refused(
      compiler,
      `a pattern must be a text of at most ${patternCharactersMax} characters, written out`,
      at,
    )
  }
  const { sql } = compiler.expression(left, scope)
  return { sql: `(${sql} ${operator} ${quoteText(right.value)})`, type: scalar('bool') }
}

/**
 * A run of operators of one level stays flat: left operands of the same level need no brackets, and the engine's parser
 * has a bound on nesting.
 */
function compileArithmetic(compiler: Compiler, expression: BinaryExpression, scope: Scope): Compiled {
  const run: { operator: string; operand: Expression }[] = []
  let first: Expression = expression
  const level = arithmetic[expression.operator]
  while (first.kind === 'binary' && arithmetic[first.operator] === level) {
    run.unshift({ operator: first.operator, operand: first.right })
    first = first.left
  }
  const start = compiler.expression(first, scope)
  let type = start.type
  const operands = run.map(({ operator, operand }) => ({ operator, ...compiler.expression(operand, scope) }))
  const parts = operands.map(({ operator, sql, type: other }) => {
    type = resultType(operator, type, other)
    return ` ${operator} ${sql}`
  })
  // DateTime ends in 2106 and wraps around; times an interval is added to are widened first.
  const isMoved =
    start.type.scalar === 'timestamp' && operands.some((operand) => operand.type.scalar === 'interval')
  const startSql = isMoved ? `toDateTime64(${start.sql}, 6, 'UTC')` : start.sql
  return { sql: `(${startSql}${parts.join('')})`, type }
}

function resultType(operator: string, left: ValueType, right: ValueType): ValueType {
  if (operator === '/') return scalar('float')
  if (operator === '||')
    return commonType([left, right]).scalar === 'bytes' ? scalar('bytes') : scalar('text')
  const isTime = (type: ValueType) => type.scalar === 'timestamp' || type.scalar === 'date'
  if (isTime(left) && isTime(right)) return scalar('bigint')
  if (isTime(left) && right.scalar === 'interval') return left
  if (isTime(right) && left.scalar === 'interval') return right
  const common = commonType([left, right])
  // The engine widens: 32 bits plus 32 bits are 64, and the difference of two unsigned is signed.
  return common.scalar === 'int' || common.scalar === 'bool' ? scalar('bigint') : common
}

export function compileInList(compiler: Compiler, expression: InListExpression, scope: Scope): Compiled {
  const [operand, ...items] = compileOperands(compiler, [expression.operand, ...expression.items], scope)
  const word = expression.isNot ? 'NOT IN' : 'IN'
  // A list of one tuple needs its own brackets, else the engine takes the tuple's fields for the list.
  const list = items.map((item) => item.sql).join(', ')
  return { sql: `(${operand?.sql} ${word} (${list}))`, type: scalar('bool') }
}

export function compileInQuery(compiler: Compiler, expression: InQueryExpression, scope: Scope): Compiled {
  const { sql } = compiler.withOuter(undefined).query(expression.query)
  const operand = compiler.expression(expression.operand, scope)
  return { sql: `(${operand.sql} ${expression.isNot ? 'NOT IN' : 'IN'} (${sql}))`, type: scalar('bool') }
}

/** Text constants: '0x…' are bytes, and a text beside a time is a time. */

import { hexConstant, oddHexHint } from '../text.ts'
import type { Expression } from './ast.ts'
import { type Compiled, type Compiler, invalid, quoteBytes, quoteText } from './Compiler.ts'
import { scalar, type ValueType } from './valueType.ts'

type StringExpression = Extract<Expression, { kind: 'string' }>

/** A text where nothing says what it is compared with. */
export function compileString(compiler: Compiler, expression: StringExpression): Compiled {
  const hex = hexConstant(expression.value)
  if (hex.kind === 'bytes') return { sql: quoteBytes(hex.hex), type: scalar('bytes') }
  if (hex.kind === 'odd') {
    throw invalid(compiler, "'0x…' with an odd number of digits", expression.at, oddHexHint)
  }
  return { sql: quoteText(expression.value), type: scalar('text') }
}

/** A text compared with values of `other`. */
export function compileStringBeside(
  compiler: Compiler,
  expression: StringExpression,
  other: ValueType,
): Compiled {
  const { value } = expression
  if (other.scalar === 'text' || other.scalar === 'json')
    return { sql: quoteText(value), type: scalar('text') }
  if (other.scalar === 'timestamp') {
    return { sql: `parseDateTimeBestEffort(${quoteText(value)}, 'UTC')`, type: other }
  }
  if (other.scalar === 'date') return { sql: `toDate32(${quoteText(value)})`, type: other }
  if (other.scalar === 'numeric' && /^-?\d{1,78}$/.test(value))
    // A number past 255 bits would wrap around as a signed one.
    return { sql: `${value.startsWith('-') ? 'toInt256' : 'toUInt256'}('${value}')`, type: other }
  if (other.scalar === 'bytes' && value === '0x') return { sql: quoteBytes(''), type: other }
  return compileString(compiler, expression)
}

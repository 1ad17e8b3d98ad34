/**
 * Expressions: names resolved, functions and types checked, '0x…' made bytes, printed with every bracket. The result also
 * says what the values are (valueType.ts).
 */

import type { BetweenExpression, CaseExpression, Expression } from './ast.ts'
import { type Compiled, type Compiler, quoteText, refused, resolveColumn, type Scope } from './Compiler.ts'
import { asOneLength, compileCall } from './compileCall.ts'
import { compileBinary, compileInList, compileInQuery, compileOperands } from './compileComparison.ts'
import { compileString } from './compileConstant.ts'
import { castType } from './types.ts'
import { arrayOf, commonType, elementOf, type Scalar, scalar } from './valueType.ts'

export function compileExpression(compiler: Compiler, expression: Expression, scope: Scope): Compiled {
  const compile = (inner: Expression) => compiler.expression(inner, scope)
  switch (expression.kind) {
    case 'number':
      return compileNumber(expression.text)
    case 'string':
      return compileString(compiler, expression)
    case 'boolean':
      return { sql: String(expression.value), type: scalar('bool') }
    case 'null':
      return { sql: 'NULL', type: scalar('null') }
    case 'column':
      return resolveColumn(compiler, expression.path, scope)
    case 'call':
      return compileCall(compiler, expression, scope)
    case 'lambda':
      throw refused(compiler, 'a lambda is allowed as an argument of an array function only', expression.at)
    case 'logic': {
      const operands = expression.operands.map((operand) => compile(operand).sql)
      return { sql: `(${operands.join(` ${expression.word} `)})`, type: scalar('bool') }
    }
    case 'unary':
      return compileUnary(expression.word, compile(expression.operand))
    case 'binary':
      return compileBinary(compiler, expression, scope)
    case 'between':
      return compileBetween(compiler, expression, scope)
    case 'inList':
      return compileInList(compiler, expression, scope)
    case 'inQuery':
      return compileInQuery(compiler, expression, scope)
    case 'isNull': {
      const { sql } = compile(expression.operand)
      return { sql: `(${sql} IS ${expression.isNot ? 'NOT ' : ''}NULL)`, type: scalar('bool') }
    }
    case 'query':
      return compileSubquery(compiler, expression, scope)
    case 'case':
      return compileCase(compiler, expression, scope)
    case 'cast':
      return compileCast(compiler, expression, scope)
    case 'array': {
      const items = expression.items.map(compile)
      const type = arrayOf(commonType(items.map((item) => item.type)))
      return { sql: `[${items.map((item) => item.sql).join(', ')}]`, type }
    }
    case 'tuple': {
      const items = expression.items.map(compile)
      return { sql: `tuple(${items.map((item) => item.sql).join(', ')})`, type: scalar('record') }
    }
    case 'element': {
      const operand = compile(expression.operand)
      return {
        sql: `arrayElement(${operand.sql}, ${compile(expression.index).sql})`,
        type: elementOf(operand.type),
      }
    }
    case 'field':
      return {
        sql: `tupleElement(${compile(expression.operand).sql}, ${expression.index})`,
        type: scalar('unknown'),
      }
    case 'interval':
      return compileInterval(compiler, expression, scope)
    case 'extract':
      return compileExtract(compiler, expression, scope)
  }
}

/** The engine reads whole numbers past 64 bits as floats, so those are made of text. */
function compileNumber(text: string): Compiled {
  if (!/^\d+$/.test(text)) return { sql: text.startsWith('.') ? `0${text}` : text, type: scalar('float') }
  const value = BigInt(text)
  if (value > 0xffff_ffff_ffff_ffffn) return { sql: `toUInt256('${value}')`, type: scalar('numeric') }
  return { sql: String(value), type: scalar(value > 0x7fff_ffffn ? 'bigint' : 'int') }
}

function compileUnary(word: 'NOT' | '-', operand: Compiled): Compiled {
  if (word === 'NOT') return { sql: `(NOT ${operand.sql})`, type: scalar('bool') }
  return { sql: `(- ${operand.sql})`, type: operand.type }
}

function compileBetween(compiler: Compiler, expression: BetweenExpression, scope: Scope): Compiled {
  const operands = [expression.operand, expression.low, expression.high]
  const [operand = '', low = '', high = ''] = compileOperands(compiler, operands, scope).map(({ sql }) => sql)
  const word = expression.isNot ? 'NOT BETWEEN' : 'BETWEEN'
  return { sql: `(${operand} ${word} ${low} AND ${high})`, type: scalar('bool') }
}

function compileSubquery(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'query' }>,
  scope: Scope,
): Compiled {
  // The engine answers a scalar sub-select that counts nothing with NULL when it depends on the row: only EXISTS may.
  const outer = expression.isExists ? scope : undefined
  const { sql, columns } = compiler.withOuter(outer).query(expression.query)
  if (expression.isExists) return { sql: `exists(${sql})`, type: scalar('bool') }
  const [column] = columns
  return { sql: `(${sql})`, type: columns.length === 1 && column ? column.type : scalar('record') }
}

/** CASE in both forms. The form with a subject compares once per branch, as SQL defines it. */
function compileCase(compiler: Compiler, expression: CaseExpression, scope: Scope): Compiled {
  const { subject, branches, otherwise, at } = expression
  const last = otherwise ? compiler.expression(otherwise, scope) : { sql: 'NULL', type: scalar('null') }
  const results = asOneLength([...branches.map(({ result }) => compiler.expression(result, scope)), last])
  const printed = branches.map(({ when }, index) => {
    const condition: Expression = subject
      ? { kind: 'binary', operator: '=', left: subject, right: when, at }
      : when
    return `WHEN ${compiler.expression(condition, scope).sql} THEN ${results[index]?.sql}`
  })
  const type = commonType(results.map((result) => result.type))
  return { sql: `(CASE ${printed.join(' ')} ELSE ${results.at(-1)?.sql} END)`, type }
}

function compileCast(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'cast' }>,
  scope: Scope,
): Compiled {
  const target = castType(expression.type)
  if (typeof target === 'string') throw refused(compiler, target, expression.type.at)
  const { operand } = expression
  const isText = target.type.scalar === 'text' && !target.type.isArray
  if (operand.kind === 'string' && isText) return { sql: quoteText(operand.value), type: target.type }
  if (operand.kind === 'string' && target.type.scalar === 'timestamp') {
    return { sql: `parseDateTimeBestEffort(${quoteText(operand.value)}, 'UTC')`, type: target.type }
  }
  const value = compiler.expression(operand, scope)
  if (isText && value.type.scalar === 'bytes') return { sql: hexText(value.sql), type: target.type }
  return { sql: `CAST(${value.sql} AS ${target.sql})`, type: target.type }
}

/** Bytes as readable text; the raw ones would be no text at all. */
export const hexText = (sql: string): string => `concat('0x', lower(hex(${sql})))`

const intervalUnits = new Set(['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'])

function compileInterval(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'interval' }>,
  scope: Scope,
): Compiled {
  const unit = expression.unit.toUpperCase().replace(/S$/, '')
  if (!intervalUnits.has(unit))
    throw refused(compiler, `${expression.unit} is no unit of an interval`, expression.at)
  return {
    sql: `(INTERVAL ${compiler.expression(expression.amount, scope).sql} ${unit})`,
    type: scalar('interval'),
  }
}

const extractors: Readonly<Record<string, readonly [name: string, type: Scalar]>> = {
  epoch: ['toUnixTimestamp', 'bigint'],
  second: ['toSecond', 'int'],
  minute: ['toMinute', 'int'],
  hour: ['toHour', 'int'],
  day: ['toDayOfMonth', 'int'],
  doy: ['toDayOfYear', 'int'],
  isodow: ['toDayOfWeek', 'int'],
  week: ['toISOWeek', 'int'],
  month: ['toMonth', 'int'],
  quarter: ['toQuarter', 'int'],
  year: ['toYear', 'int'],
}

function compileExtract(
  compiler: Compiler,
  expression: Extract<Expression, { kind: 'extract' }>,
  scope: Scope,
): Compiled {
  const extractor = extractors[expression.unit]
  if (!extractor) throw refused(compiler, `${expression.unit} cannot be extracted`, expression.at)
  return {
    sql: `${extractor[0]}(${compiler.expression(expression.operand, scope).sql})`,
    type: scalar(extractor[1]),
  }
}

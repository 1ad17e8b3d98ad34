/**
 * Comparisons: constants take the type of the other side, NULL keeps PostgreSQL's meaning; LIKE and
 * IN.
 */

import {
  matchesNoBytes,
  noBytesHint,
  noBytesProblem,
  rangeOfPattern,
  timeHint,
  unequalWidths,
} from '../../../text.ts'
import type { BinaryExpression, Expression, InListExpression } from '../../parse/ast.ts'
import {
  type Compiled,
  type Compiler,
  invalid,
  type NameScope,
  quoteBytes,
  quoteText,
  refused,
} from '../Compiler.ts'
import { asOneNumber, assertOneKind, assertOneWidth, comparable } from '../numbers.ts'
import { commonType, isNumber, isWhole, knownWidth, scalar } from '../valueType.ts'
import { compileArithmetic, isArithmetic } from './compileArithmetic.ts'
import { withAbsence, withOneElement } from './compileArray.ts'
import { hexText } from './compileCast.ts'
import { compileStringBeside } from './compileConstant.ts'

/** As on Postgres: a pattern is a constant, so that no row can change its cost. */
const PATTERN_CHARACTERS_MAX = 200

export function compileBinary(compiler: Compiler, expression: BinaryExpression, scope: NameScope): Compiled {
  const { operator, left, right } = expression
  if (isArithmetic(operator)) return compileArithmetic(compiler, expression, scope)
  if (operator.includes('~')) return compileMatch(compiler, expression, scope)
  if (operator.endsWith('LIKE')) return compileLike(compiler, expression, scope)
  if (left.kind === 'tuple' && right.kind === 'tuple' && !operator.startsWith('IS'))
    return compileRows(compiler, expression, left.items, right.items, scope)
  const check = equalities.has(operator) ? assertWidths : undefined
  const [first, second] = compileOperands(compiler, [left, right], scope, check)
  if (operator.startsWith('IS'))
    return distinctFrom(first?.sql ?? '', second?.sql ?? '', operator.includes('NOT'))
  if (first?.type.isArray && second?.type.isArray) {
    const [one, other] = withOneElement([first, second])
    const compared = { sql: `(${one?.sql} ${operator} ${other?.sql})`, type: scalar('bool') }
    return withAbsence(compared, [first, second])
  }
  const [a, b] =
    first && second && !isConstant(left) && !isConstant(right) ? ofOneSign(first, second) : [first, second]
  return { sql: `(${a?.sql} ${operator} ${b?.sql})`, type: scalar('bool') }
}

const equalities: ReadonlySet<string> = new Set(['=', '!=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'])

/** @throws UserQueryError `sql_invalid` where bytes have another length than all that they may equal */
export function assertWidths(
  compiler: Compiler,
  operands: readonly Expression[],
  compiled: readonly Compiled[],
): void {
  const widthOf = (index: number) => {
    const type = compiled[index]?.type
    return type && knownWidth(type)
  }
  const column = operands.findIndex(({ kind }, index) => kind !== 'string' && widthOf(index) !== undefined)
  const width = widthOf(column)
  if (width === undefined) return
  const others = operands.flatMap(({ kind }, index) => (kind === 'string' ? [] : [index]))
  assertOneWidth(
    compiler,
    others.flatMap((index) => compiled[index] ?? []),
    (index) => operands[others[index] ?? 0]?.at,
  )
  for (const [index, operand] of operands.entries()) {
    const length = operand.kind === 'string' ? widthOf(index) : undefined
    if (operand.kind !== 'string' || length === undefined) continue
    const found = unequalWidths(length, width, operand.value.slice(2).toLowerCase())
    if (found) throw invalid(compiler, found.problem, operand.at, found.hint)
  }
}

/**
 * A join on whole numbers needs them of one sign; comparing with a constant leaves the
 * column to its index.
 */
function ofOneSign(left: Compiled, right: Compiled): readonly Compiled[] {
  const type = commonType([left.type, right.type])
  const isMixed = left.type.isUnsigned !== right.type.isUnsigned && isWhole(left.type) && isWhole(right.type)
  return isMixed && (type.scalar === 'bigint' || type.scalar === 'numeric')
    ? asOneNumber([left, right], type)
    : [left, right]
}

/** Compiles what is compared with each other; constants among them take the others' type. */
export function compileOperands(
  compiler: Compiler,
  operands: readonly Expression[],
  scope: NameScope,
  check?: typeof assertWidths,
): Compiled[] {
  const fixed = operands.map((operand) =>
    operand.kind === 'string' ? undefined : compiler.expression(operand, scope),
  )
  const type = commonType(fixed.flatMap((operand) => (operand ? [operand.type] : [])))
  const compiled = operands.map((operand, index) => {
    if (operand.kind === 'string') return compileStringBeside(compiler, operand, type)
    return fixed[index] ?? compiler.expression(operand, scope)
  })
  assertTimes(compiler, operands, compiled)
  assertOneKind(compiler, compiled, (index) => operands[index]?.at)
  check?.(compiler, operands, compiled)
  // The engine compares whole numbers of any width and sign by value; others it must be told what
  // as.
  const isMixed = new Set(compiled.map((operand) => operand.type.scalar)).size > 1
  return isMixed && (type.scalar === 'float' || type.scalar === 'decimal')
    ? [...asOneNumber(compiled, type)]
    : comparable(compiled)
}

/** The engine takes a number beside a time for seconds; PostgreSQL does not. */
function assertTimes(
  compiler: Compiler,
  operands: readonly Expression[],
  compiled: readonly Compiled[],
): void {
  if (!compiled.some(({ type }) => type.scalar === 'timestamp' || type.scalar === 'date')) return
  const number = operands[compiled.findIndex(({ type }) => isNumber(type))]
  if (number) throw invalid(compiler, 'a time is compared with a number', number.at, timeHint)
}

/** Rows compared field by field; the engine's own comparison is NULL where any field is. */
function compileRows(
  compiler: Compiler,
  { operator, at }: BinaryExpression,
  left: readonly Expression[],
  right: readonly Expression[],
  scope: NameScope,
): Compiled {
  if (left.length !== right.length) throw invalid(compiler, 'the rows have different lengths', at)
  const compare = (word: string, index: number) => {
    const [a, b] = [left[index], right[index]]
    return a && b
      ? compileBinary(compiler, { kind: 'binary', operator: word, left: a, right: b, at }, scope).sql
      : ''
  }
  if (operator === '=' || operator === '!=') {
    const parts = left.map((_, index) => compare(operator, index))
    return { sql: `(${parts.join(operator === '=' ? ' AND ' : ' OR ')})`, type: scalar('bool') }
  }
  const strict = operator.slice(0, 1)
  const sql = left.reduceRight((rest, _, index) => {
    if (index === left.length - 1) return compare(operator, index)
    return `(${compare(strict, index)} OR (${compare('=', index)} AND ${rest}))`
  }, '')
  return { sql, type: scalar('bool') }
}

function distinctFrom(left: string, right: string, isNot: boolean): Compiled {
  return { sql: isNot ? `(${left} <=> ${right})` : `(NOT (${left} <=> ${right}))`, type: scalar('bool') }
}

/** A regular expression of the forms that mean the same to both engines. */
function compileMatch(
  compiler: Compiler,
  { operator, left, right, at }: BinaryExpression,
  scope: NameScope,
): Compiled {
  if (right.kind !== 'string' || right.value.length > PATTERN_CHARACTERS_MAX)
    throw refused(compiler, patternProblem, at)
  if (/\\[^dwsDWS\W]|\(\?|\[\[/.test(right.value.replaceAll('\\\\', '')))
    throw refused(compiler, 'this regular expression is not supported', right.at, formsHint)
  const value = compiler.expression(left, scope)
  const isBytes = value.type.scalar === 'bytes' && !value.type.isArray
  const text = isBytes ? hexText(value.sql) : value.sql
  const pattern = isBytes && isHexPart(right.value) ? right.value.toLowerCase() : right.value
  const found = `match(${text}, ${quoteText(operator.endsWith('*') ? `(?i)${pattern}` : pattern)})`
  return { sql: operator.startsWith('!') ? `(NOT ${found})` : `(${found})`, type: scalar('bool') }
}

const formsHint = 'use . * + ? | () [] {} ^ $ \\d \\w \\s'
const patternProblem = `a pattern must be a text of at most ${PATTERN_CHARACTERS_MAX} characters, written out`
const isHexPart = (text: string): boolean => /^(0[xX])?[0-9a-fA-F%_]*$/.test(text)

function compileLike(
  compiler: Compiler,
  { operator, left, right, at }: BinaryExpression,
  scope: NameScope,
): Compiled {
  if (right.kind !== 'string' || right.value.length > PATTERN_CHARACTERS_MAX) {
    throw refused(compiler, patternProblem, at)
  }
  const { sql, type } = compiler.expression(left, scope)
  if (type.scalar === 'bytes' && !type.isArray && matchesNoBytes(right.value))
    throw invalid(compiler, noBytesProblem, right.at, noBytesHint)
  if (type.scalar === 'bytes' && !type.isArray) return compileBytesLike(operator, sql, right.value)
  return { sql: `(${sql} ${operator} ${quoteText(right.value)})`, type: scalar('bool') }
}

/** The beginning of bytes is a range of them, which an index serves; else their text is looked at. */
function compileBytesLike(operator: string, sql: string, pattern: string): Compiled {
  const range = rangeOfPattern(pattern)
  if (!range)
    return { sql: `(${hexText(sql)} ${operator} ${quoteText(pattern.toLowerCase())})`, type: scalar('bool') }
  const within = `(${sql} >= ${quoteBytes(range.low)} AND ${sql} < ${quoteBytes(range.high)})`
  return { sql: operator.startsWith('NOT') ? `(NOT ${within})` : within, type: scalar('bool') }
}

/**
 * The engine leaves a NULL of the list out, which makes `NOT IN (1, NULL)` true; as equalities it
 * means what SQL says.
 */
export function compileInList(compiler: Compiler, expression: InListExpression, scope: NameScope): Compiled {
  const { operand, items, isNot, at } = expression
  if (items.every(isConstant) && operand.kind !== 'tuple') return plainInList(compiler, expression, scope)
  if (items.length > EQUALITIES_MAX) {
    if (operand.kind !== 'tuple')
      throw refused(compiler, `a list of more than ${EQUALITIES_MAX} values must be of constants`, at)
    return plainInList(compiler, expression, scope)
  }
  const parts = items.map(
    (item) =>
      compileBinary(compiler, { kind: 'binary', operator: '=', left: operand, right: item, at }, scope).sql,
  )
  return { sql: `(${isNot ? 'NOT ' : ''}(${parts.join(' OR ')}))`, type: scalar('bool') }
}

const EQUALITIES_MAX = 100

/** A constant that is not NULL. */
const isConstant = (expression: Expression): boolean =>
  ['number', 'string', 'boolean'].includes(expression.kind) ||
  (expression.kind === 'unary' && expression.word === '-' && isConstant(expression.operand))

function plainInList(compiler: Compiler, expression: InListExpression, scope: NameScope): Compiled {
  const all = [expression.operand, ...expression.items]
  const [operand, ...items] = compileOperands(compiler, all, scope, assertWidths)
  const word = expression.isNot ? 'NOT IN' : 'IN'
  // A list of one tuple needs its own brackets, else the engine takes the tuple's fields for the
  // list.
  const list = items.map((item) => item.sql).join(', ')
  return { sql: `(${operand?.sql} ${word} (${list}))`, type: scalar('bool') }
}

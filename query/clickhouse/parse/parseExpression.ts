/**
 * Expressions of the subset, by precedence: OR, AND, NOT, IS, comparison, BETWEEN/IN/LIKE, ||, + -,
 * * / %, sign, postfix. The levels are PostgreSQL's, so that a query means the same on both
 * engines; the printer writes every bracket.
 */

import { endlessPattern, escapeHint, escapeProblem, isEscape, plainPattern } from '../../text.ts'
import { callExpression, type Expression } from './ast.ts'
import { parsePrimary } from './parsePrimary.ts'
import { parsePatterns, parseQuantified, startsQuantified } from './parseQuantified.ts'
import { parseType } from './parseType.ts'
import type { QueryParser } from './QueryParser.ts'

/** Operators in a row on one level; each nests the tree by one. */
const CHAIN_MAX = 300

export function parseExpression(parser: QueryParser): Expression {
  return parser.reader.nested(() => parseTernary(parser))
}

/** `condition ? a : b` is ClickHouse's; it reads as `if`. */
function parseTernary(parser: QueryParser): Expression {
  const { reader } = parser
  const condition = parseLogic(parser, 'OR')
  if (!reader.acceptSymbol('?')) return condition
  const result = parseExpression(parser)
  reader.expectSymbol(':')
  const otherwise = parseExpression(parser)
  return {
    kind: 'case',
    subject: undefined,
    branches: [{ when: condition, result }],
    otherwise,
    at: condition.at,
  }
}

function parseLogic(parser: QueryParser, word: 'AND' | 'OR'): Expression {
  const operand = () => (word === 'OR' ? parseLogic(parser, 'AND') : parseNot(parser))
  const first = operand()
  const operands = [first]
  while (parser.reader.acceptWords(word)) operands.push(operand())
  return operands.length === 1 ? first : { kind: 'logic', word, operands, at: first.at }
}

function parseNot(parser: QueryParser): Expression {
  const { reader } = parser
  const { at } = reader.peek()
  if (!reader.acceptWords('NOT')) return parseIs(parser)
  return { kind: 'unary', word: 'NOT', operand: reader.nested(() => parseNot(parser)), at }
}

function parseIs(parser: QueryParser): Expression {
  const { reader } = parser
  let operand = parseComparison(parser)
  for (let count = 0; reader.acceptWords('IS'); count++) {
    if (count >= CHAIN_MAX) throw reader.refused('too many operators in a row', operand.at)
    const isNot = reader.acceptWords('NOT')
    if (reader.acceptWords('DISTINCT', 'FROM')) {
      const operator = isNot ? 'IS NOT DISTINCT FROM' : 'IS DISTINCT FROM'
      operand = { kind: 'binary', operator, left: operand, right: parseComparison(parser), at: operand.at }
      continue
    }
    reader.expectWord('NULL')
    operand = { kind: 'isNull', operand, isNot, at: operand.at }
  }
  return operand
}

const comparisons: Readonly<Record<string, string>> = {
  '=': '=',
  '==': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
}

function parseComparison(parser: QueryParser): Expression {
  const { reader } = parser
  const left = parseMembership(parser)
  const operator = reader.peek().kind === 'symbol' ? comparisons[reader.peek().text] : undefined
  if (!operator) return left
  reader.next()
  const right = startsQuantified(reader) ? undefined : parseMembership(parser)
  const compared: Expression = right
    ? { kind: 'binary', operator, left, right, at: left.at }
    : parseQuantified(parser, left, operator)
  if (reader.peek().kind === 'symbol' && comparisons[reader.peek().text]) throw reader.unexpected('AND or OR')
  return compared
}

function parseMembership(parser: QueryParser): Expression {
  const { reader } = parser
  const operand = parseChain(parser, 0)
  const negated = reader.isWord('NOT') ? 1 : 0
  const isNot = negated === 1
  if (reader.isWord('BETWEEN', negated)) {
    reader.acceptWords(...(isNot ? ['NOT'] : []), 'BETWEEN')
    const isSymmetric = reader.acceptWords('SYMMETRIC')
    if (!isSymmetric) reader.acceptWords('ASYMMETRIC')
    const low = parseChain(parser, 0)
    reader.expectWord('AND')
    return { kind: 'between', operand, low, high: parseChain(parser, 0), isNot, isSymmetric, at: operand.at }
  }
  const match = reader.peek().kind === 'symbol' && matches.includes(reader.peek().text)
  if (match) {
    return parseMatch(parser, operand, reader.next().text, parseChainAlone)
  }
  for (const word of ['LIKE', 'ILIKE']) {
    if (!reader.acceptWords(...(isNot ? ['NOT'] : []), word)) continue
    return parseMatch(parser, operand, isNot ? `NOT ${word}` : word, parsePattern)
  }
  if (reader.acceptWords(...(isNot ? ['NOT'] : []), 'IN')) return parseIn(parser, operand, isNot)
  return operand
}

/** One pattern, or ANY or ALL of several. */
function parseMatch(
  parser: QueryParser,
  operand: Expression,
  operator: string,
  parseOne: (parser: QueryParser) => Expression,
): Expression {
  const { at } = operand
  const matching = (right: Expression): Expression => ({ kind: 'binary', operator, left: operand, right, at })
  if (!startsQuantified(parser.reader)) return matching(parseOne(parser))
  const { isAll, patterns } = parsePatterns(parser, parseOne)
  return { kind: 'logic', word: isAll ? 'AND' : 'OR', operands: patterns.map(matching), at }
}

const parseChainAlone = (parser: QueryParser): Expression => parseChain(parser, 0)

/** The right side of LIKE, with one escape whatever ESCAPE says. */
function parsePattern(parser: QueryParser): Expression {
  const { reader } = parser
  const pattern = parseChain(parser, 0)
  const { at } = reader.peek()
  const given = reader.acceptWords('ESCAPE') ? parsePrimary(parser) : undefined
  const by = given?.kind === 'string' ? given.value : undefined
  if (given && !isEscape(by)) throw reader.refused(escapeProblem, at, escapeHint)
  if (pattern.kind !== 'string') return pattern
  const value = plainPattern(pattern.value, by)
  if (value === undefined) throw reader.invalid(endlessPattern, pattern.at, escapeHint)
  return { ...pattern, value }
}

/**
 * The right side of IN: a list or a sub-select in brackets, never a name, which ClickHouse would
 * read as a table.
 */
function parseIn(parser: QueryParser, operand: Expression, isNot: boolean): Expression {
  const { reader } = parser
  if (!reader.isSymbol('('))
    throw reader.refused('IN needs a list or a SELECT in parentheses', reader.peek().at)
  reader.next()
  if (reader.startsQuery()) {
    const query = parser.parseQuery()
    reader.expectSymbol(')')
    return { kind: 'inQuery', operand, query, isNot, at: operand.at }
  }
  const items = reader.list(() => parseExpression(parser))
  reader.expectSymbol(')')
  return { kind: 'inList', operand, items, isNot, at: operand.at }
}

/** Matching a regular expression. */
const matches: readonly string[] = ['~', '~*', '!~', '!~*']

/** Left-associative arithmetic, loosest first. */
const levels: readonly (readonly string[])[] = [['||'], ['+', '-'], ['*', '/', '%']]

function parseChain(parser: QueryParser, level: number): Expression {
  const { reader } = parser
  const operators = levels[level]
  if (!operators) return parseSign(parser)
  let left = parseChain(parser, level + 1)
  for (let count = 0; ; count++) {
    const { kind, text } = reader.peek()
    if (kind !== 'symbol' || !operators.includes(text)) return left
    if (count >= CHAIN_MAX) throw reader.refused('too many operators in a row', left.at)
    reader.next()
    left = { kind: 'binary', operator: text, left, right: parseChain(parser, level + 1), at: left.at }
  }
}

function parseSign(parser: QueryParser): Expression {
  const { reader } = parser
  const { at } = reader.peek()
  if (reader.acceptSymbol('+')) return reader.nested(() => parseSign(parser))
  if (!reader.acceptSymbol('-')) return parsePostfix(parser)
  return { kind: 'unary', word: '-', operand: reader.nested(() => parseSign(parser)), at }
}

function parsePostfix(parser: QueryParser): Expression {
  const { reader } = parser
  let operand = parsePrimary(parser)
  for (let count = 0; ; count++) {
    if (count >= CHAIN_MAX) throw reader.refused('too many operators in a row', operand.at)
    const { at } = operand
    if (reader.acceptWords('AT', 'TIME', 'ZONE'))
      operand = called('timezone', [parsePrimary(parser), operand])
    else if (reader.isSymbol('->') || reader.isSymbol('->>'))
      operand = called(reader.next().text, [operand, parseStep(parser)])
    else if (reader.acceptSymbol('::')) operand = { kind: 'cast', operand, type: parseType(reader), at }
    else if (reader.acceptSymbol('[')) {
      const index = parseExpression(parser)
      reader.expectSymbol(']')
      operand = { kind: 'element', operand, index, at }
    } else if (/^\.\d+$/.test(reader.peek().text) && reader.peek().kind === 'number') {
      operand = { kind: 'field', operand, index: Number(reader.next().text.slice(1)), at }
    } else if (reader.isSymbol('.')) throw reader.refused('(value).field is not allowed', reader.peek().at)
    else return operand
  }
}

/** A key or a place in a document; what follows goes on from what is found there. */
function parseStep(parser: QueryParser): Expression {
  const { at } = parser.reader.peek()
  if (!parser.reader.acceptSymbol('-')) return parsePrimary(parser)
  return { kind: 'unary', word: '-', operand: parsePrimary(parser), at }
}

/** A call that is written as an operator. */
const called = (name: string, args: readonly [Expression, ...Expression[]]): Expression => ({
  ...callExpression(name, args),
  at: Math.min(...args.map(({ at }) => at)),
})

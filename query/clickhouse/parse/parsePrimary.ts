/**
 * The smallest expressions: constants, columns, brackets, CASE, CAST, INTERVAL, EXTRACT,
 * sub-selects and calls.
 */

import { callExpression, type Expression, type Name } from './ast.ts'
import type { LexedToken } from './lexer.ts'
import { parseCall } from './parseCall.ts'
import { parseType } from './parseType.ts'
import type { QueryParser } from './QueryParser.ts'
import type { TokenReader } from './TokenReader.ts'

export function parsePrimary(parser: QueryParser): Expression {
  const { reader } = parser
  const { kind, text, at } = reader.peek()
  if (kind === 'number') {
    reader.next()
    return { kind: 'number', text, at }
  }
  if (kind === 'string') {
    reader.next()
    return { kind: 'string', value: text, at }
  }
  if (reader.acceptSymbol('[')) return { kind: 'array', items: parseItems(parser, ']'), at }
  if (reader.isSymbol('(')) return parseBrackets(parser)
  const form = kind === 'word' ? forms[text.toUpperCase()] : undefined
  const special = form?.(parser, at)
  if (special) return special
  if (reader.isName() && reader.isSymbol('->', 1) && !isDocumentStep(reader)) {
    return parseLambdaBody(parser, [reader.expectName('a parameter')], at)
  }
  if (kind === 'word' && reader.isSymbol('(', 1)) return parseCall(parser)
  return parseColumn(parser)
}

/** `name->'key'` or `name->0` goes into a document, unless a function of arrays is told a lambda. */
function isDocumentStep(reader: TokenReader): boolean {
  const isKey = reader.peek(2).kind === 'string' || reader.peek(2).kind === 'number'
  return isKey && !(reader.isSymbol('(', -1) && /^array/i.test(reader.peek(-2).text))
}

type Form = (parser: QueryParser, at: number) => Expression | undefined

/** The form that a word begins if it is not a name; undefined means that it is one after all. */
const forms: Readonly<Record<string, Form>> = {
  TRUE: (parser, at) => parseWord(parser, { kind: 'boolean', value: true, at }),
  FALSE: (parser, at) => parseWord(parser, { kind: 'boolean', value: false, at }),
  NULL: (parser, at) => parseWord(parser, { kind: 'null', at }),
  CASE: parseCase,
  CAST: parseCast,
  EXTRACT: parseExtract,
  INTERVAL: parseInterval,
  EXISTS: parseExists,
  ARRAY: parseArray,
  CURRENT_DATE: parseMoment,
  CURRENT_TIMESTAMP: parseMoment,
  LOCALTIMESTAMP: parseMoment,
  DATE: parseTypedText,
  TIMESTAMP: parseTypedText,
}

function parseWord(parser: QueryParser, expression: Expression): Expression {
  parser.reader.next()
  return expression
}

/** `current_timestamp` and its like are calls without brackets. */
function parseMoment(parser: QueryParser, at: number): Expression {
  return callExpression(parser.reader.next().text.toLowerCase(), [], at)
}

function parseItems(parser: QueryParser, close: string): Expression[] {
  const { reader } = parser
  if (reader.acceptSymbol(close)) return []
  const items = reader.list(() => parser.parseExpression())
  reader.expectSymbol(close)
  return items
}

/** `(a)`, `(a, b)`, `(SELECT …)`, `(x, y) -> …`. */
function parseBrackets(parser: QueryParser): Expression {
  const { reader } = parser
  const { at } = reader.next()
  if (reader.startsQuery()) {
    const query = parser.parseQuery()
    reader.expectSymbol(')')
    return { kind: 'query', query, isExists: false, at }
  }
  const items = parseItems(parser, ')')
  if (reader.isSymbol('->'))
    return parseLambdaBody(
      parser,
      items.map((item) => parameterOf(parser, item)),
      at,
    )
  const [only] = items
  if (!only) throw reader.invalid('the parentheses are empty', at)
  return items.length === 1 ? only : { kind: 'tuple', items, at }
}

function parameterOf(parser: QueryParser, item: Expression): Name {
  const [name, ...more] = item.kind === 'column' ? item.path : []
  if (!name || more.length > 0) throw parser.reader.invalid('a parameter must be a name', item.at)
  return name
}

function parseLambdaBody(parser: QueryParser, parameters: readonly Name[], at: number): Expression {
  parser.reader.expectSymbol('->')
  return { kind: 'lambda', parameters, body: parser.parseExpression(), at }
}

function parseColumn(parser: QueryParser): Expression {
  const { reader } = parser
  const first = reader.expectName('an expression')
  if (!reader.isSymbol('.') || !isColumnWord(reader.peek(1)))
    return { kind: 'column', path: [first], at: first.at }
  reader.next()
  const path = [first, reader.acceptName() ?? reader.next()]
  if (reader.isSymbol('.') && reader.isName(1)) {
    throw reader.refused('name columns as column or table.column', first.at)
  }
  return { kind: 'column', path, at: first.at }
}

/** Behind a table's name any word is one of its columns. */
const isColumnWord = ({ kind, text }: LexedToken): boolean =>
  kind === 'word' || (kind === 'quotedName' && text !== '')

function parseCase(parser: QueryParser, at: number): Expression {
  const { reader } = parser
  reader.next()
  const subject = reader.isWord('WHEN') ? undefined : parser.parseExpression()
  const branches: { when: Expression; result: Expression }[] = []
  while (reader.acceptWords('WHEN')) {
    const when = parser.parseExpression()
    reader.expectWord('THEN')
    branches.push({ when, result: parser.parseExpression() })
  }
  if (branches.length === 0) throw reader.unexpected('WHEN')
  const otherwise = reader.acceptWords('ELSE') ? parser.parseExpression() : undefined
  reader.expectWord('END')
  return { kind: 'case', subject, branches, otherwise, at }
}

/** `CAST(x AS type)`; the form with a comma takes its type from a text and is not supported. */
function parseCast(parser: QueryParser, at: number): Expression {
  const { reader } = parser
  reader.next()
  reader.expectSymbol('(')
  const operand = parser.parseExpression()
  if (reader.isSymbol(',')) throw reader.refused('write CAST(value AS type)', at)
  reader.expectWord('AS')
  const type = parseType(reader)
  reader.expectSymbol(')')
  return { kind: 'cast', operand, type, at }
}

function parseExtract(parser: QueryParser, at: number): Expression | undefined {
  const { reader } = parser
  if (!reader.isSymbol('(', 1)) return undefined
  reader.next()
  reader.next()
  const unit = reader.next()
  if (unit.kind !== 'word' || !reader.acceptWords('FROM')) {
    throw reader.refused('write EXTRACT(field FROM time)', at)
  }
  const operand = parser.parseExpression()
  reader.expectSymbol(')')
  return { kind: 'extract', unit: unit.text.toLowerCase(), operand, at }
}

/** `INTERVAL 1 DAY` or PostgreSQL's `INTERVAL '1 day'`. */
function parseInterval(parser: QueryParser, at: number): Expression {
  const { reader } = parser
  reader.next()
  const token = reader.peek()
  if (token.kind === 'string') {
    reader.next()
    const [, number, unit] = /^\s*(\d{1,9})\s+([a-zA-Z]+)\s*$/.exec(token.text) ?? []
    if (number && unit) return { kind: 'interval', amount: { kind: 'number', text: number, at }, unit, at }
    throw reader.invalid("an interval is written as INTERVAL '1 day' or INTERVAL 1 DAY", token.at)
  }
  const amount = parsePrimary(parser)
  const unit = reader.next()
  if (unit.kind !== 'word') throw reader.invalid('an interval needs a unit', unit.at)
  return { kind: 'interval', amount, unit: unit.text, at }
}

function parseExists(parser: QueryParser, at: number): Expression {
  const { reader } = parser
  reader.next()
  reader.expectSymbol('(')
  const query = parser.parseQuery()
  reader.expectSymbol(')')
  return { kind: 'query', query, isExists: true, at }
}

function parseArray(parser: QueryParser, at: number): Expression | undefined {
  const { reader } = parser
  if (!reader.isSymbol('[', 1) && !reader.isSymbol('(', 1)) return undefined
  reader.next()
  const { text } = reader.next()
  return { kind: 'array', items: parseItems(parser, text === '[' ? ']' : ')'), at }
}

/** `DATE '2026-01-01'`, `TIMESTAMP '…'`. */
function parseTypedText(parser: QueryParser, at: number): Expression | undefined {
  const { reader } = parser
  if (reader.peek(1).kind !== 'string') return undefined
  const type = { name: reader.next().text, args: [], at }
  return { kind: 'cast', operand: { kind: 'string', value: reader.next().text, at }, type, at }
}

/**
 * `x < ANY (…)`, `x <> ALL (…)`: what IN says is read as IN, so that indexes serve it; the rest keeps
 * its operator (compileQuantified.ts).
 */

import { PATTERNS_MAX, patternsHint, patternsProblem, patternsWithin } from '../../text.ts'
import type { Expression } from './ast.ts'
import type { QueryParser } from './QueryParser.ts'
import type { TokenReader } from './TokenReader.ts'

const words: readonly string[] = ['ANY', 'SOME', 'ALL']

export const startsQuantified = (reader: TokenReader): boolean =>
  words.some((word) => reader.isWord(word)) && reader.isSymbol('(', 1)

/** The part behind the operator. */
export function parseQuantified(parser: QueryParser, operand: Expression, operator: string): Expression {
  const { reader } = parser
  const isAll = reader.next().text.toUpperCase() === 'ALL'
  reader.next()
  const values = parseValues(parser)
  reader.expectSymbol(')')
  const { at } = operand
  const isNot = isAll && operator === '!='
  const isMembership = isNot || (!isAll && operator === '=')
  if (isMembership && values.kind === 'query')
    return { kind: 'inQuery', operand, query: values.query, isNot, at }
  if (values.kind === 'array') {
    assertPlain(reader, values.items, values.at)
    if (isMembership) return { kind: 'inList', operand, items: values.items, isNot, at }
    if (values.items.length <= COMPARISONS_MAX) {
      const operands = values.items.map(
        (right): Expression => ({ kind: 'binary', operator, left: operand, right, at }),
      )
      return { kind: 'logic', word: isAll ? 'AND' : 'OR', operands, at }
    }
  }
  return { kind: 'quantified', operator, isAll, operand, values, at }
}

/** Written out, each comparison holds the operand; of more values the array is looked through. */
const COMPARISONS_MAX = 100

/** `LIKE ANY (ARRAY['a%', 'b%'])`: patterns are written out, so that no row can change their cost. */
export function parsePatterns(
  parser: QueryParser,
  parseOne: (parser: QueryParser) => Expression,
): { readonly isAll: boolean; readonly patterns: readonly Expression[] } {
  const { reader } = parser
  const isAll = reader.next().text.toUpperCase() === 'ALL'
  const { at } = reader.next()
  const patterns = parsePatternList(reader, () => parseOne(parser))
  reader.expectSymbol(')')
  if (!patterns || patterns.length > PATTERNS_MAX) throw reader.refused(patternsProblem, at, patternsHint)
  return { isAll, patterns }
}

function parsePatternList(reader: TokenReader, parseOne: () => Expression): Expression[] | undefined {
  const { kind, text, at } = reader.peek()
  if (kind === 'string') {
    reader.next()
    return patternsWithin(text)?.map((value) => ({ kind: 'string', value, at }))
  }
  if (!reader.isWord('ARRAY') || !reader.isSymbol('[', 1))
    throw reader.refused(patternsProblem, at, patternsHint)
  reader.next()
  reader.next()
  const patterns = reader.isSymbol(']') ? undefined : reader.list(parseOne)
  reader.expectSymbol(']')
  return patterns
}

/** A SELECT, also as the array of its rows, or an expression. */
function parseValues(parser: QueryParser): Expression {
  const { reader } = parser
  const { at } = reader.peek()
  if (reader.startsQuery()) return { kind: 'query', query: parser.parseQuery(), isExists: false, at }
  if (reader.isWord('ARRAY') && reader.isSymbol('(', 1)) {
    reader.next()
    reader.next()
    if (!reader.startsQuery()) throw reader.unexpected('SELECT')
    const query = parser.parseQuery()
    reader.expectSymbol(')')
    return { kind: 'query', query, isExists: false, at }
  }
  return parser.parseExpression()
}

function assertPlain(reader: TokenReader, items: readonly Expression[], at: number): void {
  if (items.length === 0)
    throw reader.invalid('the array is empty and has no type', at, 'write ARRAY[]::bigint[]')
  const nested = items.find(({ kind }) => kind === 'array')
  if (nested) throw reader.refused('an array of arrays is not supported here', nested.at, 'write ARRAY[1, 2]')
}

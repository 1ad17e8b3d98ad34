/** Reads one SELECT of the subset; every clause that is not here is refused. */

import { qualifyHint, recursiveHint } from '../../words/hints.ts'
import type { Cte, LimitBy, Query, SetExpression } from './ast.ts'
import { parseExpression } from './parseExpression.ts'
import { parseQueryOrder } from './parseFill.ts'
import { parsePrimary } from './parsePrimary.ts'
import { parseSelect, parseValues } from './parseSelect.ts'
import type { QueryParser } from './QueryParser.ts'
import { TokenReader } from './TokenReader.ts'

/** @throws UserQueryError `sql_invalid` or `sql_refused`, with the place. */
export function parse(sql: string): Query {
  const reader = new TokenReader(sql)
  const parser: QueryParser = {
    reader,
    parseExpression: () => parseExpression(parser),
    parsePrimary: () => parsePrimary(parser),
    parseQuery: () => reader.nestedQuery(() => parseQuery(parser)),
  }
  if (!['SELECT', 'WITH'].some((word) => reader.isWord(word)) && !reader.isSymbol('(')) {
    throw reader.refused('only SELECT is allowed', reader.peek().at)
  }
  const query = parser.parseQuery()
  while (reader.acceptSymbol(';'));
  if (reader.peek().kind === 'end') return query
  throw clauseError(parser)
}

/** Clauses of the engine that the subset leaves out, for the message. */
const clauses = ['SETTINGS', 'FORMAT', 'INTO', 'QUALIFY', 'FINAL', 'SAMPLE', 'PARALLEL', 'VALUES']

function clauseError({ reader }: QueryParser): Error {
  const { text, at } = reader.peek()
  if (clauses.some((clause) => reader.isWord(clause)))
    return reader.refused(
      `${text.toUpperCase()} is not allowed`,
      at,
      text.toUpperCase() === 'QUALIFY' ? qualifyHint : undefined,
    )
  if (reader.isWord('SELECT')) return reader.refused('exactly one statement is allowed', at)
  return reader.unexpected('the end of the query')
}

function parseQuery(parser: QueryParser): Query {
  const { reader } = parser
  const { at } = reader.peek()
  const ctes = reader.acceptWords('WITH') ? parseCtes(parser) : []
  const body = parseUnion(parser)
  return { ctes, body, ...parseQueryOrder(parser), ...parseLimits(parser), at }
}

function parseCtes(parser: QueryParser): Cte[] {
  const { reader } = parser
  if (reader.isWord('RECURSIVE'))
    throw reader.refused('WITH RECURSIVE is not allowed', reader.peek().at, recursiveHint)
  return reader.list(() => {
    if (!reader.isName()) throw reader.refused('WITH needs: name AS (SELECT …)', reader.peek().at)
    const name = reader.expectName('a name')
    const columns = reader.acceptSymbol('(') ? reader.list(() => reader.expectName('a column')) : undefined
    if (columns) reader.expectSymbol(')')
    if (!reader.isWord('AS') || !reader.isSymbol('(', 1)) {
      throw reader.refused('WITH needs: name AS (SELECT …)', reader.peek().at)
    }
    reader.next()
    reader.next()
    const query = parser.parseQuery()
    reader.expectSymbol(')')
    return { name, columns, query }
  })
}

function parseUnion(parser: QueryParser): SetExpression {
  const { reader } = parser
  let left = parseIntersect(parser)
  for (;;) {
    const operator = (['UNION', 'EXCEPT'] as const).find((word) => reader.isWord(word))
    if (!operator) return left
    left = parseSetTail(parser, operator, left, () => parseIntersect(parser))
  }
}

function parseIntersect(parser: QueryParser): SetExpression {
  let left = parseOperand(parser)
  while (parser.reader.isWord('INTERSECT')) {
    left = parseSetTail(parser, 'INTERSECT', left, () => parseOperand(parser))
  }
  return left
}

/** As in standard SQL, a set operation without ALL is DISTINCT. */
function parseSetTail(
  { reader }: QueryParser,
  operator: 'UNION' | 'INTERSECT' | 'EXCEPT',
  left: SetExpression,
  parseRight: () => SetExpression,
): SetExpression {
  reader.next()
  const isAll = reader.acceptWords('ALL')
  if (!isAll) reader.acceptWords('DISTINCT')
  return reader.nested(() => ({ kind: 'set', operator, isAll, left, right: parseRight(), at: left.at }))
}

function parseOperand(parser: QueryParser): SetExpression {
  const { reader } = parser
  const { at } = reader.peek()
  if (reader.isWord('VALUES')) return parseValues(parser)
  if (!reader.acceptSymbol('(')) return parseSelect(parser)
  const query = parser.parseQuery()
  reader.expectSymbol(')')
  return { kind: 'nested', query, at }
}

/**
 * `LIMIT n [OFFSET m]`, `LIMIT m, n`, `LIMIT n [OFFSET m] BY …`, each a whole number written out.
 */
function parseLimits(parser: QueryParser): Pick<Query, 'limitBy' | 'limit' | 'offset'> {
  const { reader } = parser
  let limitBy: LimitBy | undefined
  let limit: number | undefined
  let offset: number | undefined
  while (['LIMIT', 'OFFSET', 'FETCH'].some((word) => reader.isWord(word))) {
    const { at } = reader.peek()
    const read = parseLimit(parser)
    if (reader.acceptWords('BY')) {
      if (limitBy || limit !== undefined || read.limit === undefined)
        throw reader.invalid('LIMIT BY is out of place', at)
      limitBy = {
        count: read.limit,
        offset: read.offset ?? 0,
        by: reader.list(() => parser.parseExpression()),
      }
      continue
    }
    if (limit !== undefined && read.limit !== undefined) throw reader.invalid('LIMIT is given twice', at)
    limit = read.limit ?? limit
    offset = read.offset ?? offset
  }
  if (reader.isWord('WITH'))
    throw reader.refused(
      `WITH ${reader.peek(1).text} is not allowed here`,
      reader.peek().at,
      reader.isWord('FILL', 1) ? 'WITH FILL stands behind a column of ORDER BY, before LIMIT' : undefined,
    )
  return { limitBy, limit, offset }
}

function parseLimit({ reader }: QueryParser): { limit: number | undefined; offset: number | undefined } {
  if (reader.acceptWords('OFFSET')) {
    const offset = reader.expectWholeNumber('OFFSET')
    if (!reader.acceptWords('ROWS')) reader.acceptWords('ROW')
    return { limit: undefined, offset }
  }
  if (reader.acceptWords('FETCH')) return { limit: parseFetch(reader), offset: undefined }
  reader.expectWord('LIMIT')
  const limit = reader.expectWholeNumber('LIMIT')
  if (reader.acceptSymbol(',')) return { limit: reader.expectWholeNumber('LIMIT'), offset: limit }
  return { limit, offset: reader.acceptWords('OFFSET') ? reader.expectWholeNumber('OFFSET') : undefined }
}

/** `FETCH FIRST n ROWS ONLY` */
function parseFetch(reader: TokenReader): number {
  if (!reader.acceptWords('FIRST')) reader.expectWord('NEXT')
  const count = reader.peek().kind === 'number' ? reader.expectWholeNumber('FETCH') : 1
  if (!reader.acceptWords('ROWS')) reader.expectWord('ROW')
  if (reader.isWord('WITH')) throw reader.refused('WITH TIES is not allowed', reader.peek().at)
  reader.expectWord('ONLY')
  return count
}

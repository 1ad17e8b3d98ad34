/** Window definitions and ORDER BY lists. */

import type { OrderItem, Window, WindowFrame } from './ast.ts'
import type { QueryParser } from './QueryParser.ts'
import type { TokenReader } from './TokenReader.ts'

/** `( [name] [PARTITION BY …] [ORDER BY …] [ROWS | RANGE …] )`. */
export function parseWindow(parser: QueryParser): Window {
  const { reader } = parser
  reader.expectSymbol('(')
  const isBase =
    reader.isName() && !['PARTITION', 'ORDER', 'ROWS', 'RANGE', 'GROUPS'].some((word) => reader.isWord(word))
  const base = isBase ? reader.acceptName() : undefined
  const partitionBy = reader.acceptWords('PARTITION', 'BY') ? reader.list(() => parser.parseExpression()) : []
  const orderBy = reader.acceptWords('ORDER', 'BY') ? parseOrder(parser) : []
  const frame = parseFrame(reader)
  reader.expectSymbol(')')
  return { base, partitionBy, orderBy, frame }
}

export const parseOrder = (parser: QueryParser): OrderItem[] =>
  parser.reader.list(() => parseOrderItem(parser))

export function parseOrderItem(parser: QueryParser): OrderItem {
  const { reader } = parser
  const expression = parser.parseExpression()
  const isDescending = reader.acceptWords('DESC')
  if (!isDescending) reader.acceptWords('ASC')
  return { expression, isDescending, nulls: parseNulls(reader) }
}

function parseNulls(reader: TokenReader): OrderItem['nulls'] {
  if (!reader.acceptWords('NULLS')) return undefined
  if (reader.acceptWords('FIRST')) return 'FIRST'
  reader.expectWord('LAST')
  return 'LAST'
}

function parseFrame(reader: TokenReader): WindowFrame | undefined {
  const unit = reader.acceptWords('ROWS') ? 'ROWS' : reader.acceptWords('RANGE') ? 'RANGE' : undefined
  if (!unit) return undefined
  if (!reader.acceptWords('BETWEEN')) return { unit, start: parseBound(reader), end: 'CURRENT ROW' }
  const start = parseBound(reader)
  reader.expectWord('AND')
  return { unit, start, end: parseBound(reader) }
}

function parseBound(reader: TokenReader): string {
  if (reader.acceptWords('CURRENT', 'ROW')) return 'CURRENT ROW'
  const distance = reader.acceptWords('UNBOUNDED')
    ? 'UNBOUNDED'
    : String(reader.expectWholeNumber('a frame bound'))
  if (reader.acceptWords('PRECEDING')) return `${distance} PRECEDING`
  reader.expectWord('FOLLOWING')
  return `${distance} FOLLOWING`
}

/** ORDER BY of a whole query, with ClickHouse's `WITH FILL` and `INTERPOLATE`. */

import type { Fill, Interpolated, OrderItem, Query } from './ast.ts'
import { parseOrderItem } from './parseWindow.ts'
import type { QueryParser } from './QueryParser.ts'

export function parseQueryOrder(parser: QueryParser): Pick<Query, 'orderBy' | 'interpolated'> {
  const { reader } = parser
  if (!reader.acceptWords('ORDER', 'BY')) return { orderBy: [] }
  const orderBy = reader.list((): OrderItem => {
    const item = parseOrderItem(parser)
    const { at } = reader.peek()
    return reader.acceptWords('WITH', 'FILL') ? { ...item, fill: parseFill(parser, at) } : item
  })
  if (!orderBy.some(({ fill }) => fill)) return { orderBy }
  return reader.acceptWords('INTERPOLATE')
    ? { orderBy, interpolated: parseInterpolated(parser) }
    : { orderBy }
}

/** `[FROM x] [TO y] [STEP z]` */
function parseFill(parser: QueryParser, at: number): Fill {
  const after = (word: string) => (parser.reader.acceptWords(word) ? parser.parseExpression() : undefined)
  return { from: after('FROM'), to: after('TO'), step: after('STEP'), at }
}

function parseInterpolated(parser: QueryParser): readonly Interpolated[] {
  const { reader } = parser
  if (!reader.acceptSymbol('(')) return []
  const columns = reader.list(() => ({
    name: reader.expectName('a column'),
    expression: reader.acceptWords('AS') ? parser.parseExpression() : undefined,
  }))
  reader.expectSymbol(')')
  return columns
}

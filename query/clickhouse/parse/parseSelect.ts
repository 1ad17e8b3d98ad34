/** One SELECT: its list, FROM with joins, filters, grouping and named windows. */

import { numbersBounds, numbersProblem } from '../../text.ts'
import { lateralHint, seriesHint } from '../../words/hints.ts'
import type { Expression, FromItem, GroupBy, Join, Select, SelectItem, SetExpression } from './ast.ts'
import { parseWindow } from './parseWindow.ts'
import type { QueryParser } from './QueryParser.ts'

export function parseSelect(parser: QueryParser): Select {
  const { reader } = parser
  const { at } = reader.peek()
  reader.expectWord('SELECT')
  reader.countSelect()
  const distinct = parseDistinct(parser)
  const items = reader.list(() => parseItem(parser))
  const from = reader.acceptWords('FROM') ? parseSource(parser) : undefined
  const joins = from ? parseJoins(parser) : []
  // The views are no tables of the engine's, so PREWHERE is just another condition; the engine
  // moves what it can.
  const prewhere = reader.acceptWords('PREWHERE') ? parser.parseExpression() : undefined
  const where = both(prewhere, reader.acceptWords('WHERE') ? parser.parseExpression() : undefined)
  const groupBy = reader.acceptWords('GROUP', 'BY') ? parseGroupBy(parser) : undefined
  const having = reader.acceptWords('HAVING') ? parser.parseExpression() : undefined
  // Engines that have QUALIFY do not agree on which side of WINDOW it stands.
  const early = parseQualify(parser)
  const windows = reader.acceptWords('WINDOW') ? reader.list(() => parseNamedWindow(parser)) : []
  const qualify = early ?? parseQualify(parser)
  return { kind: 'select', ...distinct, items, from, joins, where, groupBy, having, qualify, windows, at }
}

const parseQualify = (parser: QueryParser): Expression | undefined =>
  parser.reader.acceptWords('QUALIFY') ? parser.parseExpression() : undefined

function both(left: Expression | undefined, right: Expression | undefined): Expression | undefined {
  return left && right
    ? { kind: 'logic', word: 'AND', operands: [left, right], at: left.at }
    : (left ?? right)
}

function parseDistinct(parser: QueryParser): Pick<Select, 'isDistinct' | 'distinctOn'> {
  const { reader } = parser
  if (!reader.acceptWords('DISTINCT')) {
    reader.acceptWords('ALL')
    return { isDistinct: false, distinctOn: [] }
  }
  if (!reader.acceptWords('ON')) return { isDistinct: true, distinctOn: [] }
  reader.expectSymbol('(')
  const distinctOn = reader.list(() => parser.parseExpression())
  reader.expectSymbol(')')
  return { isDistinct: false, distinctOn }
}

function parseItem(parser: QueryParser): SelectItem {
  const { reader } = parser
  const { at } = reader.peek()
  const item = parseStar(parser) ?? parseNamedItem(parser)
  if (item.kind !== 'star') return item
  for (const word of ['EXCEPT', 'REPLACE', 'APPLY']) {
    const follows = reader.isSymbol('(', 1) || reader.isName(1)
    if (reader.isWord(word) && follows) throw reader.refused(`* ${word} is not allowed; name the columns`, at)
  }
  return item
}

function parseStar({ reader }: QueryParser): SelectItem | undefined {
  const { at } = reader.peek()
  if (reader.acceptSymbol('*')) return { kind: 'star', of: undefined, at }
  if (!reader.isName() || !reader.isSymbol('.', 1) || !reader.isSymbol('*', 2)) return undefined
  const of = reader.expectName('a table')
  reader.next()
  reader.next()
  return { kind: 'star', of, at }
}

function parseNamedItem(parser: QueryParser): SelectItem {
  const { reader } = parser
  const { at } = reader.peek()
  const expression = parser.parseExpression()
  const alias = reader.acceptWords('AS') ? reader.expectName('a name') : reader.acceptName()
  return { kind: 'item', expression, alias, at }
}

function parseSource(parser: QueryParser): FromItem {
  const { reader } = parser
  const { at } = reader.peek()
  if (reader.isWord('LATERAL')) throw reader.refused('LATERAL is not allowed', at, lateralHint)
  if (reader.acceptSymbol('(')) {
    const query = parser.parseQuery()
    reader.expectSymbol(')')
    return { kind: 'query', query, ...parseNames(parser), at }
  }
  const name = reader.expectName('a table')
  if (reader.isSymbol('.')) throw reader.refused('name tables without a database', at)
  if (reader.isSymbol('(')) {
    const series = (['generate_series', 'numbers'] as const).find((word) => word === name.text.toLowerCase())
    if (!series) throw reader.refused(`the table function ${name.text} is not allowed`, at, seriesHint)
    const bounds = series === 'numbers' ? parseNumbers(parser) : parseSeries(parser)
    return { kind: 'series', name: series, bounds, ...parseNames(parser), at }
  }
  const { alias, columns } = parseNames(parser)
  for (const word of ['FINAL', 'SAMPLE']) {
    if (reader.isWord(word)) throw reader.refused(`${word} is not allowed`, reader.peek().at)
  }
  return { kind: 'relation', name, alias, columns, at }
}

/** `AS t(a, b)` */
function parseNames(parser: QueryParser): Pick<FromItem, 'alias' | 'columns'> {
  const { reader } = parser
  const alias = parseAlias(parser)
  if (!alias || !reader.acceptSymbol('(')) return { alias, columns: [] }
  const columns = reader.list(() => reader.expectName('a column'))
  reader.expectSymbol(')')
  return { alias, columns }
}

function parseAlias({ reader }: QueryParser) {
  return reader.acceptWords('AS') ? reader.expectName('a name') : reader.acceptName()
}

/** `VALUES (…), (…)` as SELECTs of its rows; the columns are `column1`, `column2`… */
export function parseValues(parser: QueryParser): SetExpression {
  const { reader } = parser
  const { at } = reader.next()
  const rows = reader.list((): SetExpression => {
    const place = reader.peek().at
    reader.countSelect()
    reader.expectSymbol('(')
    const values = reader.list(() => parser.parseExpression())
    reader.expectSymbol(')')
    const items = values.map((expression, index) => ({
      kind: 'item' as const,
      expression,
      alias: { text: `column${index + 1}`, at: expression.at },
      at: expression.at,
    }))
    return { ...emptySelect, items, at: place }
  })
  return rows.reduce((left, right) => ({
    kind: 'set',
    operator: 'UNION',
    isAll: true,
    left,
    right,
    at,
  }))
}

const emptySelect = {
  kind: 'select',
  isDistinct: false,
  distinctOn: [],
  from: undefined,
  joins: [],
  where: undefined,
  groupBy: undefined,
  having: undefined,
  qualify: undefined,
  windows: [],
} as const

/** `(from, to[, step])`. */
function parseSeries(parser: QueryParser): readonly Expression[] {
  const { reader } = parser
  reader.expectSymbol('(')
  const bounds = reader.list(() => parser.parseExpression())
  reader.expectSymbol(')')
  return bounds
}

/** `(count)` or `(from, count)`. */
function parseNumbers({ reader }: QueryParser): readonly Expression[] {
  const { at } = reader.next()
  const given = reader.list(() => reader.expectWholeNumber('a bound of numbers'))
  const bounds = numbersBounds(given)
  if (!bounds) throw reader.refused(numbersProblem, at, seriesHint)
  reader.expectSymbol(')')
  return bounds.map((bound) => ({ kind: 'number', text: String(bound), at }))
}

function parseJoins(parser: QueryParser): Join[] {
  const joins: Join[] = []
  for (let join = parseJoin(parser); join; join = parseJoin(parser)) joins.push(join)
  return joins
}

function parseJoin(parser: QueryParser): Join | undefined {
  const { reader } = parser
  if (reader.acceptSymbol(',')) {
    return {
      kind: 'join',
      side: 'CROSS',
      strictness: undefined,
      source: parseSource(parser),
      on: undefined,
      using: undefined,
    }
  }
  if (reader.isWord('GLOBAL') || reader.isWord('PASTE') || reader.isWord('NATURAL')) {
    throw reader.refused(`${reader.peek().text.toUpperCase()} JOIN is not allowed`, reader.peek().at)
  }
  if (reader.acceptWords('ARRAY', 'JOIN')) return parseArrayJoin(parser, false)
  if (reader.acceptWords('LEFT', 'ARRAY', 'JOIN')) return parseArrayJoin(parser, true)
  const start = reader.peek().at
  let strictness = parseStrictness(parser)
  const side = sides.find((word) => reader.acceptWords(word))
  strictness ??= parseStrictness(parser)
  if (side) reader.acceptWords('OUTER')
  if (!reader.acceptWords('JOIN')) {
    if (side || strictness) throw reader.unexpected('JOIN')
    return undefined
  }
  const source = parseSource(parser)
  const condition = parseCondition(parser)
  if ((side === 'CROSS') === Boolean(condition.on ?? condition.using)) {
    throw reader.invalid(side === 'CROSS' ? 'CROSS JOIN takes no condition' : 'JOIN needs ON or USING', start)
  }
  return {
    kind: 'join',
    side: side ?? 'INNER',
    strictness: strictness === 'ALL' ? undefined : strictness,
    source,
    ...condition,
  }
}

const sides = ['INNER', 'LEFT', 'RIGHT', 'FULL', 'CROSS'] as const
const strictnesses = ['ANY', 'ALL', 'ASOF', 'SEMI', 'ANTI'] as const

function parseStrictness({ reader }: QueryParser) {
  return strictnesses.find((word) => reader.acceptWords(word))
}

function parseCondition(parser: QueryParser) {
  const { reader } = parser
  if (reader.acceptWords('ON')) return { on: parser.parseExpression(), using: undefined }
  if (!reader.acceptWords('USING')) return { on: undefined, using: undefined }
  const hasBrackets = reader.acceptSymbol('(')
  const using = reader.list(() => reader.expectName('a column'))
  if (hasBrackets) reader.expectSymbol(')')
  return { on: undefined, using }
}

function parseArrayJoin(parser: QueryParser, isLeft: boolean): Join {
  const { reader } = parser
  const items = reader.list(() => {
    const expression = parser.parseExpression()
    reader.expectWord('AS')
    return { expression, alias: reader.expectName('a name') }
  })
  return { kind: 'arrayJoin', isLeft, items }
}

function parseGroupBy(parser: QueryParser): GroupBy {
  const { reader } = parser
  if (reader.acceptWords('GROUPING', 'SETS')) return parseGroupingSets(parser)
  const function_ = (['ROLLUP', 'CUBE'] as const).find(
    (word) => reader.isWord(word) && reader.isSymbol('(', 1),
  )
  if (function_) {
    reader.next()
    reader.next()
    const items = reader.list(() => parser.parseExpression())
    reader.expectSymbol(')')
    return { modifier: function_, sets: [items], isGroupingSets: false }
  }
  const items = reader.list(() => parser.parseExpression())
  if (!reader.acceptWords('WITH')) return { modifier: undefined, sets: [items], isGroupingSets: false }
  const { at } = reader.peek()
  const modifier = (['ROLLUP', 'CUBE'] as const).find((word) => reader.acceptWords(word))
  if (!modifier) throw reader.refused('WITH TOTALS is not allowed; use WITH ROLLUP', at)
  return { modifier, sets: [items], isGroupingSets: false }
}

function parseGroupingSets(parser: QueryParser): GroupBy {
  const { reader } = parser
  reader.expectSymbol('(')
  const sets = reader.list(() => {
    if (!reader.acceptSymbol('(')) return [parser.parseExpression()]
    if (reader.acceptSymbol(')')) return []
    const items = reader.list(() => parser.parseExpression())
    reader.expectSymbol(')')
    return items
  })
  reader.expectSymbol(')')
  return { modifier: undefined, sets, isGroupingSets: true }
}

function parseNamedWindow(parser: QueryParser) {
  const name = parser.reader.expectName('a window')
  parser.reader.expectWord('AS')
  return { name, window: parseWindow(parser) }
}

/**
 * Calls: `f(x)`, `quantile(0.9)(x)`, `count(DISTINCT x) FILTER (WHERE …) OVER (…)`. Which
 * functions, functions.ts says.
 */

import { type CallExpression, callExpression, type Expression } from './ast.ts'
import { parseOrder, parseWindow } from './parseWindow.ts'
import type { QueryParser } from './QueryParser.ts'

export function parseCall(parser: QueryParser): CallExpression {
  const { reader } = parser
  const { text: name, at } = reader.next()
  if (name.toLowerCase() === 'trim') return parseTrim(parser, at)
  const words = wordCalls[name.toLowerCase()]?.(parser)
  if (words) return callExpression(name, words, at)
  let list = parseArguments(parser)
  let parameters: readonly Expression[] | undefined
  if (reader.isSymbol('(')) {
    if (list.isDistinct || list.isStar) throw reader.unexpected('the end of the call')
    parameters = list.args
    list = parseArguments(parser)
  }
  return { kind: 'call', name, parameters, ...list, ...parseSuffixes(parser), at }
}

/** Calls with words between their arguments; undefined where it is a plain one after all. */
const wordCalls: Readonly<Record<string, (parser: QueryParser) => readonly Expression[] | undefined>> = {
  substring: parsePiece,
  position: parsePosition,
}

/** `(x FROM n FOR m)` */
function parsePiece(parser: QueryParser): readonly Expression[] | undefined {
  const { reader } = parser
  if (!reader.hasWordInBrackets('FROM')) return undefined
  reader.expectSymbol('(')
  const args = [parser.parseExpression()]
  reader.expectWord('FROM')
  args.push(parser.parseExpression())
  if (reader.acceptWords('FOR')) args.push(parser.parseExpression())
  reader.expectSymbol(')')
  return args
}

/** `(part IN whole)`; the engine's own call begins with the whole. */
function parsePosition(parser: QueryParser): readonly Expression[] | undefined {
  const { reader } = parser
  if (!reader.hasWordInBrackets('IN')) return undefined
  reader.expectSymbol('(')
  const part = parser.parsePrimary()
  reader.expectWord('IN')
  const whole = parser.parseExpression()
  reader.expectSymbol(')')
  return [whole, part]
}

/** `trim(leading 'x' FROM y)`: which side is a call of its own, named so by PostgreSQL too. */
function parseTrim(parser: QueryParser, at: number): CallExpression {
  const { reader } = parser
  reader.expectSymbol('(')
  const side = trims.find(([word]) => reader.acceptWords(word))
  const first = reader.isWord('FROM') ? [] : reader.list(() => parser.parseExpression())
  const values = reader.acceptWords('FROM') ? reader.list(() => parser.parseExpression()) : []
  reader.expectSymbol(')')
  return callExpression(side?.[1] ?? 'btrim', [...values, ...first], at)
}

const trims = [
  ['LEADING', 'ltrim'],
  ['TRAILING', 'rtrim'],
  ['BOTH', 'btrim'],
] as const

type Arguments = Pick<CallExpression, 'args' | 'isStar' | 'isDistinct' | 'orderBy'>

function parseArguments(parser: QueryParser): Arguments {
  const { reader } = parser
  const none: Arguments = { args: [], isStar: false, isDistinct: false, orderBy: [] }
  reader.expectSymbol('(')
  if (reader.acceptSymbol(')')) return none
  if (reader.acceptSymbol('*')) {
    reader.expectSymbol(')')
    return { ...none, isStar: true }
  }
  const isDistinct = reader.acceptWords('DISTINCT')
  if (reader.isWord('SELECT') || reader.isWord('WITH')) {
    throw reader.refused('a SELECT as an argument needs its own parentheses', reader.peek().at)
  }
  const args = reader.list(() => parser.parseExpression())
  const orderBy = reader.acceptWords('ORDER', 'BY') ? parseOrder(parser) : []
  reader.expectSymbol(')')
  return { args, isStar: false, isDistinct, orderBy }
}

type Suffixes = Pick<CallExpression, 'filter' | 'over'> &
  Partial<Pick<CallExpression, 'orderBy'>> &
  Pick<CallExpression, 'isWithinGroup'>

function parseSuffixes(parser: QueryParser): Suffixes {
  const { reader } = parser
  const isWithinGroup = reader.acceptWords('WITHIN', 'GROUP')
  if (!isWithinGroup) return { ...parseFilter(parser), isWithinGroup }
  reader.expectSymbol('(')
  reader.expectWord('ORDER')
  reader.expectWord('BY')
  const orderBy = parseOrder(parser)
  reader.expectSymbol(')')
  return { ...parseFilter(parser), isWithinGroup, orderBy }
}

function parseFilter(parser: QueryParser): Pick<CallExpression, 'filter' | 'over'> {
  const { reader } = parser
  let filter: Expression | undefined
  if (reader.isWord('FILTER') && reader.isSymbol('(', 1)) {
    reader.next()
    reader.next()
    reader.expectWord('WHERE')
    filter = parser.parseExpression()
    reader.expectSymbol(')')
  }
  if (!reader.acceptWords('OVER')) return { filter, over: undefined }
  if (!reader.isSymbol('(')) return { filter, over: reader.expectName('a window') }
  return { filter, over: parseWindow(parser) }
}

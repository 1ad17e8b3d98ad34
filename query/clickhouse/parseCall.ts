/**
 * Calls: `f(x)`, `quantile(0.9)(x)`, `count(DISTINCT x) FILTER (WHERE …) OVER (…)`. Which
 * functions, functions.ts says.
 */

import type { CallExpression, Expression } from './ast.ts'
import { parseWindow } from './parseWindow.ts'
import type { QueryParser } from './QueryParser.ts'

export function parseCall(parser: QueryParser): CallExpression {
  const { reader } = parser
  const { text: name, at } = reader.next()
  let list = parseArguments(parser)
  let parameters: readonly Expression[] | undefined
  if (reader.isSymbol('(')) {
    if (list.isDistinct || list.isStar) throw reader.unexpected('the end of the call')
    parameters = list.args
    list = parseArguments(parser)
  }
  return { kind: 'call', name, parameters, ...list, ...parseSuffixes(parser), at }
}

function parseArguments(parser: QueryParser): Pick<CallExpression, 'args' | 'isStar' | 'isDistinct'> {
  const { reader } = parser
  reader.expectSymbol('(')
  if (reader.acceptSymbol(')')) return { args: [], isStar: false, isDistinct: false }
  if (reader.acceptSymbol('*')) {
    reader.expectSymbol(')')
    return { args: [], isStar: true, isDistinct: false }
  }
  const isDistinct = reader.acceptWords('DISTINCT')
  if (reader.isWord('SELECT') || reader.isWord('WITH')) {
    throw reader.refused('a SELECT as an argument needs its own parentheses', reader.peek().at)
  }
  const args = reader.list(() => parser.parseExpression())
  reader.expectSymbol(')')
  return { args, isStar: false, isDistinct }
}

function parseSuffixes(parser: QueryParser): Pick<CallExpression, 'filter' | 'over'> {
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

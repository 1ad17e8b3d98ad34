/** The parsers of expressions and of queries need each other; they meet here. */

import type { Expression, Query } from './ast.ts'
import type { TokenReader } from './TokenReader.ts'

export interface QueryParser {
  readonly reader: TokenReader
  parseExpression(): Expression
  /** The smallest expression: a constant, a column, a call, brackets. */
  parsePrimary(): Expression
  parseQuery(): Query
}

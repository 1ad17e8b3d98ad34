/** Reads text with the server's own grammar. */

import { loadModule, parseSync } from 'libpg-query'
import { assertText } from '../../text.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import { inPostgresWords, placeOfByte, syntaxHint } from './dialect.ts'
import { LEXEMES_MAX, lexemeCount } from './lexemes.ts'
import { isFields, nodeList } from './walk.ts'

/** Loads the grammar; await it before the first parse. */
export const loadPostgresGrammar = loadModule

/**
 * The parse node of the one statement in a user's text. The only way to the WASM grammar for such
 * text: it is bounded first, since a long chain of operators can leave the module in an endless
 * loop (lexemes.ts).
 * @throws UserQueryError `sql_invalid` with the place, `sql_refused` for more than one statement or
 * too many parts
 */
export function parsePostgres(sql: string): unknown {
  assertText(sql)
  if (lexemeCount(sql) > LEXEMES_MAX) throw new UserQueryError('sql_refused', 'the query has too many parts')
  const statements = parseUsers(sql)
  const [first] = statements
  if (statements.length !== 1 || !isFields(first)) {
    throw new UserQueryError('sql_refused', `exactly one statement is allowed, this is ${statements.length}`)
  }
  return first['stmt']
}

function parseUsers(sql: string): readonly unknown[] {
  try {
    return parseStatements(inPostgresWords(sql))
  } catch (error) {
    throw syntaxError(sql, error)
  }
}

/** The statements of a text already known to be bounded. @throws what the grammar says */
export function parseStatements(sql: string): readonly unknown[] {
  const tree: unknown = parseSync(sql)
  return isFields(tree) ? nodeList(tree['stmts']) : []
}

function syntaxError(sql: string, error: unknown): UserQueryError {
  const details = isFields(error) ? error['sqlDetails'] : undefined
  if (!isFields(details))
    return new UserQueryError('sql_invalid', 'the query is nested too deeply', { cause: error })
  const cursor = details['cursorPosition']
  // libpg-query counts characters from 0 here, and bytes in the tree.
  const position =
    typeof cursor === 'number' && cursor >= 0
      ? placeOfByte(sql, byteOffset(inPostgresWords(sql), cursor))
      : undefined
  return new UserQueryError('sql_invalid', String(details['message']), { position, hint: syntaxHint(sql) })
}

const byteOffset = (sql: string, characters: number): number =>
  Buffer.byteLength([...sql].slice(0, characters).join(''))

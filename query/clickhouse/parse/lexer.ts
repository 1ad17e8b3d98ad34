/**
 * Splits analysts' SQL for ClickHouse into tokens. Strict: a character the subset does not use is
 * refused, so parameters (`{x:T}`), dollar quotes, back-slashed names and operators we do not know
 * cannot even be spelt.
 */

import { SQL_NODES_MAX, unquotedHint } from '../../text.ts'
import { positionAt, UserQueryError } from '../../UserQueryError.ts'

export type LexedTokenKind = 'word' | 'quotedName' | 'number' | 'string' | 'symbol' | 'end'

export interface LexedToken {
  readonly kind: LexedTokenKind
  /** A string's or quoted name's content with its escapes resolved; anything else as written. */
  readonly text: string
  /** UTF-16 offset in the query. */
  readonly at: number
}

/** Longest first, so that `<=` is not read as `<`. */
const symbols = [
  ...['!~*', '->>', '<=', '>=', '<>', '!=', '!~', '~*', '==', '||', '::', '->'],
  ...'()[],.;+-*/%=<>?:~',
]

const wordPattern = /[A-Za-z_][A-Za-z0-9_]*/y
const numberPattern = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const spacePattern = /\s+/y

/**
 * All tokens, the last of kind `end`. @throws UserQueryError on a character, quote or comment that
 * is not closed.
 */
export function tokenize(sql: string): LexedToken[] {
  const tokens: LexedToken[] = []
  let at = 0
  for (;;) {
    at = skipBlanks(sql, at)
    if (at >= sql.length) break
    if (tokens.length >= SQL_NODES_MAX) throw invalid(sql, at, 'the query has too many parts')
    const { token, end } = readToken(sql, at, tokens.at(-1))
    tokens.push(token)
    at = end
  }
  tokens.push({ kind: 'end', text: 'the end', at: sql.length })
  return tokens
}

interface Read {
  readonly token: LexedToken
  readonly end: number
}

function readToken(sql: string, at: number, before: LexedToken | undefined): Read {
  const first = sql[at] ?? ''
  if (sql.startsWith("'\\'", at) && before?.text.toUpperCase() === 'ESCAPE')
    return { token: { kind: 'string', text: '\\', at }, end: at + 3 }
  if (first === "'") return readQuoted(sql, at, "'", 'string')
  if (/^[eE]'/.test(sql.slice(at, at + 2))) return readEscaped(sql, at)
  if (first === '"' || first === '`') return readQuoted(sql, at, first, 'quotedName')
  const word = match(wordPattern, sql, at)
  if (word) return { token: { kind: 'word', text: word, at }, end: at + word.length }
  const number = match(numberPattern, sql, at)
  if (number) return readNumber(sql, at, number)
  const symbol = symbols.find((candidate) => sql.startsWith(candidate, at))
  if (symbol) return { token: { kind: 'symbol', text: symbol, at }, end: at + symbol.length }
  const shown = String.fromCodePoint(sql.codePointAt(at) ?? 0)
  throw invalid(sql, at, `unexpected character ${shown}`, plainer.get(shown))
}

function readNumber(sql: string, at: number, text: string): Read {
  const end = at + text.length
  if (match(wordPattern, sql, end)) {
    throw invalid(sql, at, 'a number runs into a word', unquotedHint)
  }
  return { token: { kind: 'number', text, at }, end }
}

/**
 * A text or a name. To PostgreSQL a backslash is one more character, to ClickHouse it is too where
 * nothing that it escapes follows; elsewhere the two would read another text.
 */
function readQuoted(sql: string, at: number, quote: string, kind: LexedTokenKind): Read {
  let text = ''
  for (let end = at + 1; end < sql.length; end++) {
    const character = sql[end] ?? ''
    if (character === '\\' && kind === 'string' && end === at + 1 && match(bytesPattern, sql, at)) {
      text += character
      continue
    }
    if (character === '\\' && escapedByClickHouse.has(sql[end + 1] ?? ''))
      throw invalid(
        sql,
        end,
        `the engines read \\${sql[end + 1]} differently`,
        escapeHint(sql[end + 1] ?? ''),
      )
    if (character !== quote) text += character
    else if (sql[end + 1] === quote) text += sql[++end]
    else return { token: { kind, text, at }, end: end + 1 }
  }
  throw invalid(sql, at, 'the quote is not closed')
}

/** A text that holds bytes as PostgreSQL writes them, and nothing else. */
const bytesPattern = /'\\x[0-9a-fA-F]*'(?!')/y

const escapedByClickHouse: ReadonlySet<string> = new Set('\\\'"`0abefnrtvxN')

const escapeHint = (escaped: string): string =>
  escaped === "'"
    ? "a quote within a text is written twice: 'it''s'"
    : "within E'…' \\\\ is a backslash and \\n a line end; a pattern's own is written once, '\\d'"

/** The escapes of `E'…'` that stand for one plain character; the others make bytes no text needs. */
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  n: '\n',
  t: '\t',
  r: '\r',
}

function readEscaped(sql: string, at: number): Read {
  let text = ''
  for (let end = at + 2; end < sql.length; end++) {
    const character = sql[end]
    if (character === '\\') {
      const escaped = escapes[sql[++end] ?? '']
      if (escaped === undefined) throw invalid(sql, end - 1, 'this escape is not supported')
      text += escaped
    } else if (character !== "'") text += character
    else if (sql[end + 1] === "'") text += sql[++end]
    else return { token: { kind: 'string', text, at }, end: end + 1 }
  }
  throw invalid(sql, at, 'the quote is not closed')
}

function skipBlanks(sql: string, start: number): number {
  let at = start
  for (;;) {
    const before = at
    at += match(spacePattern, sql, at)?.length ?? 0
    if (sql.startsWith('--', at)) {
      const end = sql.indexOf('\n', at)
      at = end < 0 ? sql.length : end
    }
    if (sql.startsWith('/*', at)) {
      const end = sql.indexOf('*/', at + 2)
      if (end < 0) throw invalid(sql, at, 'the comment is not closed')
      at = end + 2
    }
    if (at === before) return at
  }
}

function match(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0]
}

/** Substitutes for PostgreSQL's operators that are not read. */
const plainer: ReadonlyMap<string, string> = new Map([
  ['^', 'write power(x, 2)'],
  ['#', "write bitXor(a, b), or (x -> 'a') ->> 'b' of a document"],
])

function invalid(sql: string, at: number, problem: string, hint?: string): UserQueryError {
  return new UserQueryError('sql_invalid', problem, { position: positionAt(sql, at), hint })
}

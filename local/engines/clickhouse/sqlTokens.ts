/**
 * Splits ClickHouse SQL into tokens, far enough to see where strings and comments end. Not a
 * parser.
 */

export interface SqlToken {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'mark'
  readonly text: string
  /** Offset of the first character. */
  readonly start: number
  /** Offset after the last character. */
  readonly end: number
  /** How many parentheses and brackets are open before it. */
  readonly depth: number
}

/**
 * The tokens, comments and white space left out. Lazy: inline data after a statement is never
 * looked at.
 */
export function* readTokens(sql: string): Generator<SqlToken, void, undefined> {
  let depth = 0
  let start = skipBlank(sql, 0)
  while (start < sql.length) {
    const kind = kindAt(sql, start)
    const end = endOf(sql, start, kind)
    const text = sql.slice(start, end)
    if (kind === 'mark' && (text === ')' || text === ']')) depth -= 1
    yield { kind, text, start, end, depth }
    if (kind === 'mark' && (text === '(' || text === '[')) depth += 1
    start = skipBlank(sql, end)
  }
}

/** Whether the token is this keyword, written in any case. */
export function isWord(token: SqlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toUpperCase() === word
}

/** The name a token stands for, quoted or not; undefined when it is none. */
export function nameOf(token: SqlToken | undefined): string | undefined {
  if (token?.kind === 'word') return token.text
  if (token?.kind !== 'quoted') return undefined
  return token.text
    .slice(1, -1)
    .replace(/\\(.)|""|``/gs, (pair, escaped?: string) => escaped ?? pair.charAt(0))
}

const BLANK = /(?:[\s\0]+|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$))*/y

function skipBlank(sql: string, from: number): number {
  BLANK.lastIndex = from
  BLANK.test(sql)
  return Math.max(from, BLANK.lastIndex)
}

function kindAt(sql: string, start: number): SqlToken['kind'] {
  const first = sql.charAt(start)
  if (first === "'") return 'string'
  if (first === '"' || first === '`') return 'quoted'
  if (/[A-Za-z_]/.test(first)) return 'word'
  if (/[0-9]/.test(first)) return 'number'
  return first === '$' && HEREDOC_TAG.test(sql.slice(start, start + HEREDOC_TAG_MAX)) ? 'string' : 'mark'
}

const WORD = /[A-Za-z_][A-Za-z0-9_$]*/y
const NUMBER = /[0-9][0-9A-Za-z_.]*/y
const HEREDOC_TAG = /^\$[A-Za-z0-9_]*\$/
const HEREDOC_TAG_MAX = 128

function endOf(sql: string, start: number, kind: SqlToken['kind']): number {
  if (kind === 'word') return matchEnd(sql, start, WORD)
  if (kind === 'number') return matchEnd(sql, start, NUMBER)
  if (kind === 'mark') return start + 1
  const tag = HEREDOC_TAG.exec(sql.slice(start, start + HEREDOC_TAG_MAX))?.[0]
  if (tag === undefined) return quotedEnd(sql, start)
  const close = sql.indexOf(tag, start + tag.length)
  return close < 0 ? sql.length : close + tag.length
}

function matchEnd(sql: string, start: number, pattern: RegExp): number {
  pattern.lastIndex = start
  return pattern.test(sql) ? pattern.lastIndex : start + 1
}

/**
 * Backslash escapes the next character; a doubled quote is read as two strings side by side, which
 * ends alike.
 */
function quotedEnd(sql: string, start: number): number {
  const quote = sql.charAt(start)
  for (let at = start + 1; at < sql.length; at += 1) {
    const character = sql.charAt(at)
    if (character === '\\') at += 1
    else if (character === quote) {
      if (sql.charAt(at + 1) !== quote) return at + 1
      at += 1
    }
  }
  return sql.length
}

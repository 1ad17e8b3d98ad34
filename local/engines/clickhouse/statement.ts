/** The facts of a statement that the HTTP server needs before the engine sees it. */

import { queryError } from './QueryError.ts'
import { isWord, nameOf, readTokens, type SqlToken } from './sqlTokens.ts'

/** An INSERT whose rows follow as data, in the statement's own text or in the request's body. */
export interface DataInsert {
  readonly kind: 'insert'
  /** Everything before FORMAT or VALUES. */
  readonly head: string
  readonly format: string
  /** The start of the data in the text; its length when there is none. */
  readonly dataStart: number
}

/** Any other statement. `format` is its FORMAT clause, when it ends in one. */
export interface OtherStatement {
  readonly kind: 'other'
  readonly sql: string
  readonly format: string | undefined
  /** A SELECT: what chDB can stream. SHOW, EXPLAIN and the like read too, but come whole. */
  readonly isSelect: boolean
}

/** Reads a statement. Offsets count UTF-16 units, so decode bytes as latin1 to get byte offsets. */
export function readStatement(text: string): DataInsert | OtherStatement {
  const tokens = readTokens(text)
  const first = tokens.next().value ?? undefined
  if (isWord(first, 'INSERT')) return readInsert(text, tokens)
  const isSelect = isWord(first, 'SELECT') || isWord(first, 'WITH') || first?.text === '('
  return { kind: 'other', sql: text, format: trailingFormat(text), isSelect }
}

function readInsert(text: string, tokens: Generator<SqlToken, void, undefined>): DataInsert | OtherStatement {
  // The words may be column names inside the parentheses, so only those outside count.
  for (const token of tokens) {
    if (token.depth > 0 || token.kind !== 'word') continue
    if (isWord(token, 'SELECT') || isWord(token, 'WITH') || isWord(token, 'INFILE')) break
    if (isWord(token, 'VALUES')) {
      return { kind: 'insert', head: text.slice(0, token.start), format: 'Values', dataStart: token.end }
    }
    if (isWord(token, 'FORMAT')) {
      const name = tokens.next().value ?? undefined
      if (name?.kind !== 'word') break
      return {
        kind: 'insert',
        head: text.slice(0, token.start),
        format: name.text,
        dataStart: dataStartAfter(text, name.end),
      }
    }
  }
  return { kind: 'other', sql: text, format: undefined, isSelect: false }
}

/**
 * As the server's parser has it: blanks and one line end after the format's name belong to the
 * statement.
 */
function dataStartAfter(text: string, end: number): number {
  return end + (/^[ \t\f\v;]*(?:\r?\n)?/.exec(text.slice(end, end + DATA_GAP_MAX))?.[0].length ?? 0)
}
const DATA_GAP_MAX = 1_024

/**
 * `FORMAT name` at the end, or before a last SETTINGS clause. `format` may also be an alias in the
 * middle.
 */
function trailingFormat(sql: string): string | undefined {
  const tokens = [...readTokens(sql)].filter((token) => token.depth === 0 && token.text !== ';')
  for (let at = tokens.length - 2; at >= 0; at -= 1) {
    const name = tokens[at + 1]
    if (!isWord(tokens[at], 'FORMAT') || name?.kind !== 'word') continue
    const next = tokens[at + 2]
    return next === undefined || isWord(next, 'SETTINGS') ? name.text : undefined
  }
  return undefined
}

/**
 * chDB gives every query an id of its own and cannot be told another. The client's id therefore
 * rides in a comment (as hex, so that any id fits), and statements that look for it are pointed
 * there.
 */
export function tagWithQueryId(sql: string, queryId: string): string {
  return `${queryIdTag(queryId)} ${sql}`
}

/** The comment a query with this id begins with. */
export function queryIdTag(queryId: string): string {
  return `/*query_id:${Buffer.from(queryId).toString('hex')}*/`
}

const QUERY_ID_SQL = `unhex(extract(query, '^/\\\\*query_id:([0-9a-f]*)\\\\*/'))`
const PROCESSES_SQL = `(SELECT * REPLACE (${QUERY_ID_SQL} AS query_id) FROM system.processes)`

/**
 * Makes `query_id` mean the client's id in KILL QUERY and in reads of system.processes, and KILL
 * QUERY .. SYNC mean ASYNC: the waiting form deadlocks in chDB.
 */
export function rewriteProcessQueries(sql: string): string {
  if (!/\bkill\b|\bprocesses\b/i.test(sql)) return sql
  const tokens = [...readTokens(sql)]
  const isKill = isWord(tokens[0], 'KILL') && isWord(tokens[1], 'QUERY')
  let rewritten = ''
  let from = 0
  const replace = (start: number, end: number, text: string) => {
    rewritten += sql.slice(from, start) + text
    from = end
  }
  tokens.forEach((token, at) => {
    if (isKill && nameOf(token) === 'query_id') replace(token.start, token.end, QUERY_ID_SQL)
    if (isKill && isWord(token, 'SYNC')) replace(token.start, token.end, 'ASYNC')
    const end = tokens[at + 2]?.end
    if (!isKill && end !== undefined && isProcessesTable(tokens, at)) replace(token.start, end, PROCESSES_SQL)
  })
  return rewritten + sql.slice(from)
}

function isProcessesTable(tokens: readonly SqlToken[], at: number): boolean {
  return (
    nameOf(tokens[at]) === 'system' &&
    tokens[at + 1]?.text === '.' &&
    nameOf(tokens[at + 2]) === 'processes' &&
    tokens[at + 3]?.text !== '.'
  )
}

/**
 * Refuses by name, for the restricted reader, what roles do not stop in chDB: the scalar function file(),
 * which returns any file of this user, and the system databases. `file` is refused wherever it stands, for
 * a function need not be followed by a parenthesis: `SELECT * APPLY file` and `arrayMap(file, ..)` returned
 * /etc/passwd too. The gate in front of the engine is stricter; this is the wall behind it.
 * @throws QueryError
 */
export function assertReaderMayAsk(sql: string): void {
  const tokens = [...readTokens(sql)]
  tokens.forEach((token, at) => {
    const name = nameOf(token)?.toLowerCase()
    const isSystem = name === 'system' || name === 'information_schema'
    if (name === 'file' || (isSystem && tokens[at + 1]?.text === '.')) {
      throw queryError('ACCESS_DENIED', `The reader may not use ${name}.`)
    }
  })
}

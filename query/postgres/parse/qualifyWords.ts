/**
 * QUALIFY in the words of PostgreSQL's grammar, which has no such clause: its condition is put
 * where the grammar reads that of a window. qualify.ts makes of it what it means.
 */

/** A piece of the text that is replaced. */
export interface Edit {
  readonly at: number
  readonly length: number
  readonly text: string
}

/** A window that stands for the clause; no text of ours or of a user's calls one so. */
export const mark = 'QUALIFY '

/** Parts that hide words; words and numbers; signs. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}\p{N}_$]+|[^\s]/gu

interface Token {
  readonly word: string
  readonly at: number
  readonly end: number
  readonly depth: number
}

/** The text is read as PostgreSQL's words with these edits, in order. */
export function qualifyEdits(sql: string): Edit[] {
  if (!/\bQUALIFY\b/i.test(sql)) return []
  const read = tokensOf(sql)
  return read.flatMap((_, index) => (isClause(read, index) ? editsOf(read, index) : []))
}

function tokensOf(sql: string): readonly Token[] {
  let depth = 0
  return [...sql.matchAll(tokens)].flatMap(({ 0: text, index: at }) => {
    if (/^(--|\/\*)/.test(text)) return []
    if (text === '(') depth++
    const token = { word: text.toUpperCase(), at, end: at + text.length, depth }
    if (text === ')') depth--
    return [token]
  })
}

/** Words and signs behind which QUALIFY is a name. */
const beforeName =
  /^(SELECT|DISTINCT|AS|WHERE|AND|OR|NOT|BY|ON|FROM|JOIN|HAVING|WITH|WHEN|THEN|ELSE|[-,.(<>=+/%|])$/
/** Words and signs that follow a name and begin no condition. */
const behindName = /^(FROM|WHERE|GROUP|ORDER|LIMIT|ON|JOIN|AS|AND|OR|ASC|DESC|UNION|[),.;<>=+/*%|])$/

function isClause(read: readonly Token[], index: number): boolean {
  const [before, token, behind] = [read[index - 1], read[index], read[index + 1]]
  if (token?.word !== 'QUALIFY' || !before || !behind) return false
  return !beforeName.test(before.word) && !behindName.test(behind.word)
}

const ends = /^(ORDER|LIMIT|OFFSET|FETCH|UNION|INTERSECT|EXCEPT|WINDOW|FOR|;)$/

function editsOf(read: readonly Token[], index: number): Edit[] {
  const clause = read[index]
  if (!clause) return []
  const { at, depth, end } = clause
  const begin = read.findLastIndex(
    (token, place) =>
      place < index && token.depth <= depth && (token.depth < depth || token.word === 'SELECT'),
  )
  const hasWindows = read
    .slice(begin + 1, index)
    .some((token) => token.depth === depth && token.word === 'WINDOW')
  const stop = read.findIndex(
    (token, place) =>
      place > index &&
      (token.depth < depth || (token.depth === depth && (ends.test(token.word) || token.word === ')'))),
  )
  const last = read[(stop < 0 ? read.length : stop) - 1]
  const follower = read[stop]
  const opened = { at, length: end - at, text: `${hasWindows ? ',' : 'WINDOW'} "${mark}" AS (PARTITION BY (` }
  const closed = { at: last?.end ?? end, length: 0, text: '))' }
  if (follower?.word !== 'WINDOW') return [opened, closed]
  return [opened, closed, { at: follower.at, length: 'WINDOW'.length, text: ',' }]
}

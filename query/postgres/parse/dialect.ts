/**
 * Forms of other engines that can only mean one thing: names in backticks, `INTERVAL 1 HOUR`,
 * `LIMIT 10, 3` and QUALIFY. They are put in PostgreSQL's words before its grammar reads the text, in as many
 * characters where that is possible, so that places stay what they are. What is written is checked
 * after that, as any text is.
 */

import { offsetOfByte, positionAt, type SqlPosition } from '../../UserQueryError.ts'
import { equalsHint, fillHint, lateralHint, qualifyHint, quotedNameHint } from '../../words/hints.ts'
import { type Edit, qualifyEdits } from './qualifyWords.ts'

/** Parts that are left as they are, then the forms. */
const forms =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`"]+)`|\bINTERVAL\s+(\d{1,9})\s+((?:SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|YEAR)S?)\b|\bLIMIT\s+(\d+)\s*,\s*(\d+)/gi

/** The text in PostgreSQL's words. One with other quotes than plain ones stays as it is. */
export function inPostgresWords(sql: string): string {
  let written = ''
  let end = 0
  for (const { at, length, text } of editsOf(sql)) {
    written += sql.slice(end, at) + text
    end = at + length
  }
  return written + sql.slice(end)
}

function editsOf(sql: string): readonly Edit[] {
  if (/\$|\be'/i.test(sql)) return []
  const words = [...sql.matchAll(forms)].flatMap((found): Edit[] => {
    const text = inWords(found)
    return text === found[0] ? [] : [{ at: found.index, length: found[0].length, text }]
  })
  return [...words, ...qualifyEdits(sql)].sort((a, b) => a.at - b.at)
}

function inWords([found, name, amount, unit, offset, limit]: RegExpMatchArray): string {
  if (name !== undefined) return `"${name}"`
  if (amount !== undefined) return `INTERVAL'${amount}${unit}'`.padEnd(found.length)
  return offset === undefined ? found : `LIMIT ${limit} OFFSET ${offset}`
}

/** The place in the user's text of a byte in what {@link inPostgresWords} made of it. */
export function placeOfByte(sql: string, byte: number): SqlPosition {
  const edits = editsOf(sql)
  const offset = offsetOfByte(edits.length > 0 ? inPostgresWords(sql) : sql, byte)
  let shift = 0
  for (const { at, length, text } of edits) {
    const start = at + shift
    if (offset < start) break
    if (offset < start + text.length) return positionAt(sql, at + Math.min(offset - start, length))
    shift += text.length - length
  }
  return positionAt(sql, offset - shift)
}

/** Clauses and forms that PostgreSQL's grammar does not read, and what does the same. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/\bQUALIFY\b/i, qualifyHint],
  [/\bWITH\s+FILL\b/i, fillHint],
  [/\bLIMIT\s+\d+\s+BY\b/i, 'write SELECT DISTINCT ON (x) … ORDER BY x, y'],
  [/\b(quantile|median)\w*\s*\([^()]*\)\s*\(/i, 'write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)'],
  [/\btopK\w*\s*\([^()]*\)\s*\(/i, 'group by x and write ORDER BY count(*) DESC LIMIT 3'],
  [/\bPREWHERE\b/i, 'write WHERE'],
  [/\b(ANY|ASOF|SEMI|ANTI)\s+(LEFT\s+)?JOIN\b/i, 'write EXISTS or DISTINCT ON, or ask engine=clickhouse'],
  [/\bARRAY\s+JOIN\b/i, 'write CROSS JOIN unnest(x) AS t(element), or ask engine=clickhouse'],
  [/\bFINAL\b/i, 'leave FINAL out: every row is there once'],
  [/\bSETTINGS\b/i, 'leave SETTINGS out'],
  [/\bFORMAT\s+\w+\s*$/i, 'leave FORMAT out and ask with format=csv or an Accept header'],
  [/==/, equalsHint],
  [/\bCROSS APPLY\b/i, lateralHint],
  [/\s->\s*\w+\s*[^>\w]/, 'a lambda is ClickHouse’s: ask engine=clickhouse'],
]

/** The form to write instead of one that the grammar did not read. */
export function syntaxHint(sql: string): string | undefined {
  const plain = sql.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, "''")
  const [, word] = reservedAsName.exec(plain) ?? []
  return (
    hints.find(([pattern]) => pattern.test(plain))?.[1] ??
    (word === undefined ? undefined : quotedNameHint(word))
  )
}

/** A word that begins a clause or a list, where only a name can stand. */
const reservedAsName =
  /(?:\bSELECT|\bWHERE|\bBY|\bFROM|\bAND|\bOR|[(,=<>+*/-])\s*(limit|offset|order|group|user|end|to|from|table|column|check|desc|asc|when|then|for|references|default)\s*(?=[),=<>+*/-]|\bFROM\b|$)/i

/**
 * Forms of other engines that can only mean one thing: names in backticks, `INTERVAL 1 HOUR` and
 * `LIMIT 10, 3`. They are put in PostgreSQL's words before its grammar reads the text, in as many
 * characters where that is possible, so that places stay what they are. What is written is checked
 * after that, as any text is.
 */

import { fillHint, lateralHint, qualifyHint } from '../words/hints.ts'

/** What is left as it is, then the forms. */
const forms =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|`([^`"]+)`|\bINTERVAL\s+(\d{1,9})\s+((?:SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|YEAR)S?)\b|\bLIMIT\s+(\d+)\s*,\s*(\d+)/gi

/** The text in PostgreSQL's words. One with other quotes than plain ones stays as it is. */
export function inPostgresWords(sql: string): string {
  if (/\\|\$/.test(sql)) return sql
  return sql.replace(
    forms,
    (found: string, name?: string, amount?: string, unit?: string, offset?: string, limit?: string) => {
      if (name !== undefined) return `"${name}"`
      if (amount !== undefined) return `INTERVAL'${amount}${unit}'`.padEnd(found.length)
      return offset === undefined ? found : `LIMIT ${limit} OFFSET ${offset}`
    },
  )
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
  [/==/, 'write ='],
  [/\bCROSS APPLY\b/i, lateralHint],
  [/\s->\s*\w+\s*[^>\w]/, 'a lambda is ClickHouse’s: ask engine=clickhouse'],
]

/** What to write instead of what the grammar did not read. */
export function syntaxHint(sql: string): string | undefined {
  const plain = sql.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, "''")
  return hints.find(([pattern]) => pattern.test(plain))?.[1]
}

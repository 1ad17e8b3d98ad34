/** Results as files: RFC 4180 with a header line, and JSON with one object per row. */
import { cellText } from './cells.ts'
import type { QueryAnswer } from './queryAnswer.ts'

/** NULL is an empty field, an empty text is `""`. */
export function toCsv({ columns, rows }: Pick<QueryAnswer, 'columns' | 'rows'>): string {
  const lines = [columns.map(quotedWhereNeeded).join(',')]
  for (const row of rows)
    lines.push(row.map((cell) => (cell === null ? '' : quotedWhereNeeded(cellText(cell)))).join(','))
  return `${lines.join('\r\n')}\r\n`
}

/** Columns of the same name are told apart by a number, so that none is lost. */
export function toJson({ columns, rows }: Pick<QueryAnswer, 'columns' | 'rows'>): string {
  const keys = uniqueNames(columns)
  const lines = rows.map((row) =>
    JSON.stringify(Object.fromEntries(keys.map((key, index) => [key, row[index] ?? null]))),
  )
  return `[\n${lines.join(',\n')}\n]\n`
}

const quotedWhereNeeded = (text: string): string =>
  text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let number = 2; taken.has(unique); number++) unique = `${name}_${number}`
    taken.add(unique)
    return unique
  })
}

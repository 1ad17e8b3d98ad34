/**
 * One JSON log line as a person reads it: time, level where it matters, the sentence, then the
 * facts.
 */

/** pino's numbers, and what a person should see. Informative lines need no word. */
const levels: Readonly<Record<number, string>> = { 20: 'debug ', 40: 'WARN ', 50: 'ERROR ' }

/** A line that is not one of ours is shown as it is. */
export function renderLogLine(line: string): string {
  const fields = parse(line)
  if (fields === null) return line.trimEnd()
  const { level, time, msg, ...facts } = fields
  const clock = typeof time === 'string' ? time.slice(11, 19) : ''
  const listed = Object.entries(facts).map(([name, value]) => `${name}=${text(value)}`)
  return [clock, `${levels[Number(level)] ?? ''}${text(msg)}`, ...listed].join('  ')
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

/** A text of a node or an engine may hold anything, also what moves the cursor. */
const text = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/\p{Cc}+/gu, ' ')

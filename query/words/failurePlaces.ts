/**
 * The place of what a row made impossible. Neither engine tells it, so it is told where the text has
 * one division that may be by zero; of several no one can say which it was.
 */

import { positionAt, UserQueryError } from '../UserQueryError.ts'
import { divisionHint } from './hints.ts'

/** The stream, whose failure by a division by zero gets its place in the user's text and a hint. */
export async function* withPlaces<Event>(
  sql: string,
  events: AsyncIterable<Event>,
): AsyncGenerator<Event, void, undefined> {
  try {
    yield* events
  } catch (error) {
    throw placedFailure(sql, error)
  }
}

/** The failure with its place, or as it is. */
export function placedFailure(sql: string, error: unknown): unknown {
  if (!(error instanceof UserQueryError) || error.message !== 'division by zero') return error
  const [first, ...others] = divisionsIn(sql)
  const position = first === undefined || others.length > 0 ? undefined : positionAt(sql, first)
  return new UserQueryError(error.code, error.message, { position, hint: divisionHint, cause: error })
}

/** Texts, names and comments, which hold no operators; then what divides, and by which number. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|([/%]|\b(?:mod|div|intDiv|divide|modulo)\s*\()(\s*[\d.]*[1-9])?/gi

/** Offsets of divisions, without those by a number that is written out. */
function divisionsIn(sql: string): number[] {
  return [...sql.matchAll(tokens)].flatMap(({ index, 1: operator, 2: number }) =>
    operator === undefined || (number !== undefined && !operator.endsWith('(')) ? [] : [index],
  )
}

/** Words that rows keep as text: states, kinds, protocols. */
import { failure } from '#errors.ts'

/** The word as its type. @param of the row, for the error @throws UnknownWordError */
export function wordOf<const Word extends string>(words: readonly Word[], text: string, of: string): Word {
  const found = words.find((word) => word === text)
  if (found === undefined) throw new UnknownWordError(`${of} has the word ${text}, which is unknown here`)
  return found
}

/** A row that another version of the program wrote. */
export class UnknownWordError extends failure('UnknownWordError', 'word_unknown', 'stop') {}

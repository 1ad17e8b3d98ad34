/** Errors of our own for what a row holds, where the engine would answer something else instead. */

import { SERIES_ROWS_MAX } from '../../text.ts'

/** Problems of a value; said as the engine's error, and found in it again. */
const problems = {
  noHex: 'a text that is no hex',
  noDocument: 'a text that is no document',
  otherNumber: 'a document with a number that this engine writes in another way',
  noDate: 'a text that is no date or time',
  numericOverflow: 'numeric field overflow',
  farFloat: 'a float too large or too small for its exact value',
  negativeRoot: 'cannot take square root of a negative number',
  noLogarithm: 'cannot take logarithm of zero or less',
  noPower: 'a power that is no number, or too large for a float',
  partOfSecond: 'a time with a part of a second',
  noTime: 'a time that is out of range',
  longInterval: 'an interval beyond seven thousand years',
  negativeLength: 'a length below zero',
  longSeries: `generate_series gives more than ${SERIES_ROWS_MAX} rows`,
  standingSeries: 'the step of generate_series is 0',
  lateSeries: 'a generate_series of months begins on a day up to 28',
} as const

/** The value; where the condition is false, a cast that fails with the problem in its message. */
export const demanded = (isMet: string, problem: keyof typeof problems, value: string): string =>
  `if(CAST(if(ifNull(${isMet}, 1) = 1, '1', '${problems[problem]}') AS UInt8) = 1, ${value}, NULL)`

/** The problem that an error of the engine tells. */
export const problemIn = (message: string): string | undefined =>
  Object.values(problems).find((problem) => message.includes(`'${problem}' as UInt8`))

/** Errors of our own for what a row holds, where the engine would answer something else instead. */

/** What is wrong with a value; said as the engine's error, and found in it again. */
type Problem = `a ${string}` | `an ${string}`

/** The value; where the condition is false, a cast that fails with the problem in its message. */
export const demanded = (isMet: string, problem: Problem, value: string): string =>
  `if(CAST(if(ifNull(${isMet}, 1) = 1, '1', '${problem}') AS UInt8) = 1, ${value}, NULL)`

/** The problem that an error of the engine tells. */
export const problemIn = (message: string): string | undefined =>
  /Cannot parse string '(an? [a-z ]+)' as UInt8/.exec(message)?.[1]

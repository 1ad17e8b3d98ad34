/** An error as ClickHouse numbers and words them, on its way to the HTTP client. */

import { failure, messageOf } from '#errors.ts'

/** ClickHouse's numbers of the errors the server raises itself (ErrorCodes.cpp). */
const errorNumbers = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  SYNTAX_ERROR: 62,
  READONLY: 164,
  NOT_ENOUGH_SPACE: 243,
  LIMIT_EXCEEDED: 290,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: 216,
  CANNOT_DECOMPRESS: 271,
  QUERY_WAS_CANCELLED: 394,
  ACCESS_DENIED: 497,
  SET_NON_GRANTED_ROLE: 512,
  AUTHENTICATION_FAILED: 516,
} as const

/** A query failed. `number` is ClickHouse's, `message` is worded the way its clients parse it. */
export class QueryError extends failure('QueryError', 'query_failed', 'stop') {
  readonly number: number

  constructor(number: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.number = number
  }
}

/** An error of the server's own, in the engine's words. */
export function queryError(name: keyof typeof errorNumbers, problem: string): QueryError {
  return new QueryError(
    errorNumbers[name],
    `Code: ${errorNumbers[name]}. DB::Exception: ${problem} (${name})`,
  )
}

/** Anything else that went wrong, as an error the client can parse. */
export function unexpectedError(error: unknown): QueryError {
  if (error instanceof QueryError) return error
  const message = `Code: ${UNKNOWN_EXCEPTION}. DB::Exception: ${messageOf(error)} (UNKNOWN_EXCEPTION)`
  return new QueryError(UNKNOWN_EXCEPTION, message, { cause: error })
}
const UNKNOWN_EXCEPTION = 1002

// As the real server maps them (HTTPHandler / exceptionCodeToHTTPStatus).
const statuses = new Map<number, number>([
  [36, 400],
  [43, 400],
  [46, 404],
  [47, 404],
  [48, 501],
  [53, 400],
  [57, 400],
  [60, 404],
  [62, 400],
  [70, 400],
  [72, 400],
  [81, 404],
  [115, 404],
  [158, 500],
  [159, 408],
  [164, 403],
  [202, 503],
  [271, 400],
  [290, 413],
  [456, 400],
  [497, 403],
  [512, 403],
  [516, 401],
])

/** The HTTP status the real server would answer this error with. */
export function statusOf(error: QueryError): number {
  return statuses.get(error.number) ?? 500
}

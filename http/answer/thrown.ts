/**
 * The client's part of a thrown value. Decided by class, code and remedy, never by message text; the text
 * of drivers and databases stays inside.
 */
import { MillraceError } from '#errors.ts'
import { ApiError, type ErrorCode, errorCatalogue } from '../errors.ts'

/**
 * Turns any thrown value into the error its client sees. The original travels as `cause`, for the
 * log.
 */
export function apiErrorOf(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof MillraceError) return fromMillrace(thrown)
  const code = codeOf(thrown)
  const framework = frameworkCodes.get(code)
  if (framework) return new ApiError(framework, undefined, { cause: thrown })
  if (isUnreachable(code)) return new ApiError('upstream_error', undefined, { cause: thrown })
  return new ApiError(isClientMistake(thrown) ? 'request_invalid' : 'internal_error', undefined, {
    cause: thrown,
  })
}

/** Whether the text is a code of the catalogue. */
function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code)
}

/**
 * Our own failures name their code. One from the catalogue is meant for clients, its message too.
 * Any other that may pass on a retry is a dependency that is down (502), the rest are defects
 * (500).
 */
function fromMillrace(error: MillraceError): ApiError {
  if (isErrorCode(error.code)) return new ApiError(error.code, error.message, { cause: error })
  const code = error.remedy === 'retry' ? 'upstream_error' : 'internal_error'
  return new ApiError(code, undefined, { cause: error })
}

/** Fastify's own refusals (fastify/lib/errors.js), in our words. */
const frameworkCodes = new Map<string, ErrorCode>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'media_type_unsupported'],
  ['FST_ERR_CTP_EMPTY_JSON_BODY', 'body_invalid'],
  ['FST_ERR_CTP_INVALID_JSON_BODY', 'body_invalid'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'request_invalid'],
  ['FST_ERR_BAD_URL', 'request_invalid'],
  ['FST_ERR_ASYNC_CONSTRAINT', 'request_invalid'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'url_too_long'],
])

/**
 * Connection failures that reach us unwrapped: Node system errors, undici, and the SQLSTATE classes
 * in which Postgres says that it is going away or full (08, 53, 57P, 58; PostgreSQL manual,
 * appendix A).
 */
function isUnreachable(code: string): boolean {
  return /^(E(CONN|HOST|NET)[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UND_ERR_[A-Z_]+|08...|53...|57P..|58...)$/.test(
    code,
  )
}

/** The framework marks a malformed request with a 4xx status. */
function isClientMistake(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('statusCode' in thrown)) return false
  return typeof thrown.statusCode === 'number' && thrown.statusCode >= 400 && thrown.statusCode < 500
}

/**
 * The `code` of a thrown value or of the first cause that has one; causes are followed a few steps
 * only.
 */
function codeOf(thrown: unknown, depth = 4): string {
  if (typeof thrown !== 'object' || thrown === null || depth === 0) return ''
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  return 'cause' in thrown ? codeOf(thrown.cause, depth - 1) : ''
}

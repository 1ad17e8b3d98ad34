/**
 * The error codes of the API: one documented union. A client branches on the code; the message is
 * for people and may change. docs/errors.md says what a code means, and what to do. Every error
 * leaves as `{error: {code, message, details?}, requestId}` (errorReply.ts). Codes of the public
 * contract, and ours where the contract is silent.
 */
import { MillraceError, type Remedy } from '#errors.ts'
import { shorten } from '#primitives.ts'

/** Code -> HTTP status and the message used when the thrower gives none. */
export const errorCatalogue = {
  // 400: the request itself is wrong; `details[].path` says where.
  query_invalid: { status: 400, message: 'A query parameter is not valid.' },
  param_invalid: { status: 400, message: 'A path parameter is not valid.' },
  body_invalid: { status: 400, message: 'The request body is not valid.' },
  request_invalid: { status: 400, message: 'The request is not valid HTTP.' },
  address_invalid: { status: 400, message: 'Not an address: 0x and 40 hex characters are expected.' },
  token_invalid: { status: 400, message: 'Not a token address: 0x and 40 hex characters are expected.' },
  symbol_invalid: { status: 400, message: 'Not a token symbol.' },
  pair_invalid: { status: 400, message: 'Not an exchange pair.' },
  pair_id_invalid: { status: 400, message: 'Not a pair id: 0x and 64 hex characters are expected.' },
  transaction_invalid: {
    status: 400,
    message: 'Not a transaction hash: 0x and 64 hex characters are expected.',
  },
  order_invalid: { status: 400, message: 'Not an order id.' },
  block_invalid: { status: 400, message: 'Not a block: a number, a hash, a tag or a timestamp is expected.' },
  chain_id_invalid: { status: 400, message: 'Not a chain: mainnet, testnet or a numeric id is expected.' },
  chain_id_unsupported: { status: 400, message: 'This chain is not served here.' },
  url_invalid: { status: 400, message: 'Not an acceptable URL.' },
  filters_invalid: { status: 400, message: 'The filters are not valid for this event type.' },
  api_key_malformed: { status: 400, message: 'The API key does not have the form of one.' },
  signature_invalid: { status: 400, message: 'Not a valid signature.' },

  // 401, 402, 403: who asks. A payment challenge (402) is protocol-native and never this envelope.
  api_key_missing: { status: 401, message: 'This operation needs an API key.' },
  api_key_invalid: { status: 401, message: 'The API key is unknown, expired or revoked.' },
  unauthorized: { status: 401, message: 'Sign in first.' },
  api_key_forbidden: { status: 403, message: 'The API key may not do this.' },
  api_key_ip_forbidden: { status: 403, message: 'The API key may not be used from this network address.' },
  limit_exceeded: { status: 403, message: 'The account has reached its limit for this resource.' },
  forbidden: { status: 403, message: 'This is not allowed.' },
  scope_not_issuable: { status: 403, message: 'A key with this scope cannot be issued.' },
  payment_used: { status: 403, message: 'This payment was used before.' },
  spend_limit_exceeded: { status: 403, message: 'The spending limit is reached.' },

  // 404, 405: nothing there.
  not_found: { status: 404, message: 'Not found.' },
  token_not_found: { status: 404, message: 'No such token.' },
  token_logo_not_found: { status: 404, message: 'This token has no logo.' },
  block_not_found: { status: 404, message: 'No such block.' },
  transaction_not_found: { status: 404, message: 'No such transaction.' },
  receipt_not_found: { status: 404, message: 'No such receipt.' },
  order_not_found: { status: 404, message: 'No such order, or it is no longer open.' },
  pair_not_found: { status: 404, message: 'No such pair.' },
  verified_token_not_found: { status: 404, message: 'No such verified token.' },
  webhook_not_found: { status: 404, message: 'No such webhook subscription.' },
  delivery_not_found: { status: 404, message: 'No such delivery.' },
  replay_not_found: { status: 404, message: 'No replay of this subscription is under way or past.' },
  webhooks_not_enabled: { status: 404, message: 'Webhooks are not enabled here.' },
  organization_not_found: { status: 404, message: 'No such organization.' },
  project_not_found: { status: 404, message: 'No such project.' },
  member_not_found: { status: 404, message: 'No such member.' },
  invitation_not_found: { status: 404, message: 'No such invitation.' },
  user_not_found: { status: 404, message: 'No such user.' },
  api_key_not_found: { status: 404, message: 'No such API key.' },
  billing_not_found: { status: 404, message: 'No billing account.' },
  payment_method_not_found: { status: 404, message: 'No such payment method.' },
  service_not_found: { status: 404, message: 'No such service.' },
  plan_not_found: { status: 404, message: 'No such plan.' },
  job_not_found: { status: 404, message: 'No such job.' },
  method_not_allowed: { status: 405, message: 'This path does not take this method.' },

  // 408 to 431: the transport's limits.
  request_incomplete: { status: 408, message: 'The request did not arrive in time.' },
  body_too_large: { status: 413, message: 'The request body is too large.' },
  url_too_long: { status: 414, message: 'The URL is longer than 8 KiB.' },
  media_type_unsupported: { status: 415, message: 'The body must be uncompressed application/json.' },
  headers_too_large: { status: 431, message: 'The request headers are larger than 16 KiB.' },

  // 409: the state of the data or resource does not allow it now.
  last_owner: { status: 409, message: 'An organization keeps at least one owner.' },
  nonce_used: { status: 409, message: 'This message was used before: ask for another one.' },
  block_not_reached: { status: 409, message: 'The requested block is not indexed yet.' },
  coverage_incomplete: { status: 409, message: 'The blocks held do not cover what this question needs.' },
  rotation_under_way: { status: 409, message: 'The secret was exchanged less than 24 hours ago.' },
  replay_under_way: { status: 409, message: 'A replay of this subscription is under way.' },
  delivery_pending: { status: 409, message: 'The delivery is still under way.' },
  job_not_retryable: { status: 409, message: 'Nothing of this job can be tried again.' },
  idempotency_conflict: {
    status: 409,
    message: 'This idempotency key was used for another request, or that request is still running.',
  },

  // 422: each value is fine, together they are not.
  parameter_conflict: { status: 422, message: 'These parameters exclude each other.' },
  range_invalid: { status: 422, message: 'A range ends before it begins.' },
  sql_invalid: { status: 422, message: 'The query was refused.' },
  cost_exceeded: { status: 422, message: 'The query would cost more than `maxCost`.' },
  plan_invalid: { status: 422, message: 'The plan is not valid.' },

  // 429
  rate_limit_exceeded: { status: 429, message: 'Too many requests. Retry after the time in Retry-After.' },
  payment_required: { status: 429, message: 'The free quota is used up and payment is not configured here.' },

  // 500, 501
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  billing_unconfigured: { status: 501, message: 'Billing is not configured here.' },
  analytics_unconfigured: { status: 501, message: 'The analytics store is not configured here.' },
  api_keys_not_enabled: { status: 501, message: 'API keys are not enabled here.' },

  // 502, 503, 504: what we depend on.
  quote_unavailable: { status: 502, message: 'A seller did not tell its price.' },
  upstream_error: { status: 502, message: 'A store or node this answer needs did not answer.' },
  history_incomplete: { status: 503, message: 'The blocks this list starts from are still being indexed.' },
  projection_incomplete: { status: 503, message: 'The data behind this answer is still being computed.' },
  store_rebuilding: { status: 503, message: 'A store is being rebuilt from the ledger.' },
  settlement_pending: {
    status: 503,
    message: 'The payment was sent and its outcome is not known yet. Repeat the request with the same one.',
  },
  wallet_unavailable: { status: 503, message: 'The wallet that pays for calls would not buy this plan now.' },
  overloaded: { status: 503, message: 'The server is at its limit. Retry shortly.' },
  request_timeout: { status: 504, message: 'The request did not finish in time. Retry, or ask for less.' },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** The path of docs/errors.md on every instance. */
export const errorsPath = '/docs/errors'

/** A header (RFC 8288) leads to the code's text: the specification leaves the envelope no place for it. */
export const linkOf = (code: ErrorCode) => `<${errorsPath}#${code}>; rel="help"`

/**
 * The place of a request's error: `['query', 'limit']`, `['param', 'token']`, `['body', 'destination',
 * 'url']`.
 */
export interface RequestProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  /** The place in a text of several lines, SQL for example; both count from 1, columns in UTF-16 units. */
  readonly line?: number
  readonly column?: number
  /** Help for the caller. */
  readonly hint?: string
  readonly quota?: QuotaTold
}

/** A quota that is used up. */
export interface QuotaTold {
  /** As RateLimit-Scope names it. */
  readonly scope: string
  /** Units a minute. */
  readonly limit: number
  /** The units of the refused request. */
  readonly units: number
  /** ISO 8601, seconds. */
  readonly resetsAt: string
  /** Ways to go on, the nearest first. */
  readonly more: readonly ('sign_in' | 'api_key' | 'payment' | 'operator' | 'wait')[]
}

/**
 * A failure the client is told about. Its message is public: it never quotes a database, a secret
 * or a stack.
 */
export class ApiError extends MillraceError {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly remedy: Remedy
  readonly details: readonly RequestProblem[]
  /** Response headers of this failure, for example Retry-After. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string = errorCatalogue[code].message,
    options: {
      details?: readonly RequestProblem[]
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {},
  ) {
    super(
      shorten(message, MESSAGE_CHARACTERS_MAX),
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.remedy = errorCatalogue[code].status < 429 ? 'stop' : 'retry'
    this.details = cut(options.details ?? [])
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }
}

/**
 * Characters of a message, and of all details together: what a client wrote is told back shortened,
 * so that no error is larger than what it is about.
 */
const MESSAGE_CHARACTERS_MAX = 4_000
const DETAILS_CHARACTERS_MAX = 64 * 1_024
/** Steps of a path: a body is 64 deep, and its endpoint's own steps are before it. */
const STEPS_MAX = 80

/** As many as fit, the last of them says how many do not. */
function cut(details: readonly RequestProblem[]): readonly RequestProblem[] {
  const kept: RequestProblem[] = []
  let left = DETAILS_CHARACTERS_MAX
  for (const detail of details) {
    const short = shortened(detail)
    left -= JSON.stringify(short).length
    if (left < 0) return [...kept, { path: [], message: `${details.length - kept.length} more` }]
    kept.push(short)
  }
  return kept
}

const shortened = ({ path, message, ...more }: RequestProblem): RequestProblem => ({
  path: path.slice(0, STEPS_MAX).map((step) => (typeof step === 'string' ? shorten(step) : step)),
  message: shorten(message, MESSAGE_CHARACTERS_MAX),
  ...more,
})

/** The problem of a member of the request's body. */
export const bodyProblem = (member: string, message: string, cause?: unknown): ApiError =>
  new ApiError('body_invalid', `Not valid: body.${member}: ${message}.`, {
    details: [{ path: ['body', member], message }],
    cause,
  })

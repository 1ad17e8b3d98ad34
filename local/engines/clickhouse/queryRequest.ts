/** Reads an HTTP request of the ClickHouse interface: login, settings, statement. */

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

import { queryError } from './QueryError.ts'
import type { EngineUser, SessionWishes } from './sessionSetup.ts'

/** A login: user name and password. */
export interface Login {
  readonly username: string
  readonly password: string
}

/** The two logins of an embedded engine. */
export type Logins = Readonly<Record<EngineUser, Login>>

export interface HttpQueryRequest extends SessionWishes {
  readonly queryId: string
  /** The statement from the URL; undefined when the body holds it. */
  readonly sql: string | undefined
  /** Output format where the statement names none. */
  readonly format: string
  /** Answer only when the query has ended. */
  readonly waitEndOfQuery: boolean
  /** Bytes of an answer held back until then that stay in memory; null for all of them. */
  readonly bufferBytes: number | null
  /** The client can take a compressed answer in this coding. */
  readonly contentCoding: 'gzip' | 'zstd' | undefined
}

/**
 * @throws QueryError when the login is wrong or the request asks for what cannot be had.
 */
export function readQueryRequest(request: IncomingMessage, logins: Logins): HttpQueryRequest {
  const query = new URL(request.url ?? '/', 'http://localhost').searchParams
  const user = findUser(request, query, logins)
  if (query.has('session_id'))
    throw queryError('NOT_IMPLEMENTED', 'Sessions are not supported: every request has its own.')
  if (query.get('decompress') === '1' || query.get('compress') === '1') {
    throw queryError('NOT_IMPLEMENTED', 'Native block compression is not supported; use Content-Encoding.')
  }
  if (headerOf(request, 'content-type')?.startsWith('multipart/') === true) {
    throw queryError('NOT_IMPLEMENTED', 'Multipart bodies are not supported; send parameters in the URL.')
  }
  const queryId = query.get('query_id') || randomUUID()
  if (queryId.length > QUERY_ID_LENGTH_MAX) throw queryError('BAD_ARGUMENTS', 'The query_id is too long.')
  return {
    user,
    queryId,
    sql: query.get('query') ?? undefined,
    format: query.get('default_format') || headerOf(request, 'x-clickhouse-format') || 'TabSeparated',
    database: query.get('database') || headerOf(request, 'x-clickhouse-database') || undefined,
    roles: query.getAll('role'),
    waitEndOfQuery: query.get('wait_end_of_query') === '1',
    bufferBytes: readBufferBytes(query.get('buffer_size')),
    contentCoding: query.get('enable_http_compression') === '1' ? acceptedCoding(request) : undefined,
    ...readSettings(query, request.method === 'GET'),
  }
}

function readBufferBytes(text: string | null): number | null {
  if (text === null) return null
  if (!/^[0-9]{1,15}$/.test(text))
    throw queryError('BAD_ARGUMENTS', 'buffer_size is a number of bytes, in digits.')
  return Number(text)
}

// Long enough for a batch's token, short enough for a comment in front of the query.
const QUERY_ID_LENGTH_MAX = 512

// Parameters that are the interface's own and no settings of the engine (HTTPHandler.cpp,
// reserved_param_names).
const reserved = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'role',
  'user',
  'password',
  'quota_key',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'compress',
  'decompress',
  'buffer_size',
  'wait_end_of_query',
  'stacktrace',
  'client_protocol_version',
  // About HTTP only; the engine knows them, but they mean nothing without its own HTTP handler.
  'enable_http_compression',
  'http_zlib_compression_level',
  'send_progress_in_http_headers',
  'cancel_http_readonly_queries_on_client_close',
])

function readSettings(query: URLSearchParams, isGet: boolean) {
  const settings = new Map<string, string>()
  const parameters = new Map<string, string>()
  // A GET changes nothing, as on the real server; 2 still allows settings in the statement.
  if (isGet) settings.set('readonly', '2')
  for (const [name, value] of query) {
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value)
    else if (!reserved.has(name)) settings.set(name, value)
  }
  if (isGet && settings.get('readonly') === '0') settings.set('readonly', '2')
  return { settings, parameters }
}

function findUser(request: IncomingMessage, query: URLSearchParams, logins: Logins): EngineUser {
  const login = readLogin(request, query)
  for (const user of ['admin', 'reader'] as const) {
    if (same(login.username, logins[user].username) && same(login.password, logins[user].password))
      return user
  }
  const problem = 'Authentication failed: password is incorrect, or there is no user with such name.'
  throw queryError('AUTHENTICATION_FAILED', problem)
}

function readLogin(request: IncomingMessage, query: URLSearchParams): Login {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1]
  if (basic !== undefined) {
    const [username = '', ...password] = Buffer.from(basic, 'base64').toString().split(':')
    return { username, password: password.join(':') }
  }
  return {
    username: headerOf(request, 'x-clickhouse-user') ?? query.get('user') ?? '',
    password: headerOf(request, 'x-clickhouse-key') ?? query.get('password') ?? '',
  }
}

/** Compares digests, so that neither content nor length shows in the time. */
function same(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}

function acceptedCoding(request: IncomingMessage): 'gzip' | 'zstd' | undefined {
  const accepted = headerOf(request, 'accept-encoding') ?? ''
  if (/\bzstd\b/.test(accepted)) return 'zstd'
  return /\bgzip\b/.test(accepted) ? 'gzip' : undefined
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { MillraceError, messageOf } from '#errors.ts'
import { StoreUnreachableError } from '../postgres.ts'

export interface ClickHouseAccess {
  readonly url: string
  readonly username: string
  readonly password: string
}

/** An insert of 64 MB takes about a second; two minutes covers a merge storm on a busy disk. */
const REQUEST_TIMEOUT_MS = 120_000
const CONNECTIONS_MAX = 8

/**
 * Opens a client for our own statements. Analysts' queries use another user and other limits
 * (userQuery/).
 */
export function openClickHouse(access: ClickHouseAccess): ClickHouseClient {
  return createClient({
    ...access,
    application: 'millrace',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    keep_alive: { enabled: true },
    // Every failure is raised to us; the client would print it a second time, past our log and its
    // format.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      // 64-bit integers do not fit a JSON number; quoted they survive.
      output_format_json_quote_64bit_integers: 1,
      // Its default is on since 26.x; acknowledged must mean written.
      async_insert: 0,
    },
  })
}

/**
 * Splits `http://user:password@host:port` into what the client wants. @throws TypeError for what is
 * not a URL
 */
export function accessFromUrl(text: string): ClickHouseAccess {
  const url = new URL(text)
  const access = {
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
  }
  url.username = ''
  url.password = ''
  return { url: url.href, ...access }
}

/** @throws StoreUnreachableError naming the setting, never the URL */
export async function assertClickHouseReachable(client: ClickHouseClient): Promise<void> {
  // A ping alone asks for no password.
  const answer = await client.ping({ select: true })
  if (!answer.success)
    throw new StoreUnreachableError('CLICKHOUSE_URL', messageOf(answer.error), { cause: answer.error })
}

/** Rows of a small query of ours, parsed as JSON objects. @throws ClickHouseFailure */
export async function selectRows<Row>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown> = {},
): Promise<Row[]> {
  try {
    const result = await client.query({ query, query_params: parameters, format: 'JSONEachRow' })
    return await result.json<Row>()
  } catch (cause) {
    throw new ClickHouseFailure(cause)
  }
}

/**
 * Errors of the engine that come from what we sent, not from its state: trying again cannot help.
 */
const stopCodes = new Set([
  '16', // NO_SUCH_COLUMN_IN_TABLE
  '43', // ILLEGAL_TYPE_OF_ARGUMENT
  '46', // UNKNOWN_FUNCTION
  '47', // UNKNOWN_IDENTIFIER
  '60', // UNKNOWN_TABLE
  '62', // SYNTAX_ERROR
  '81', // UNKNOWN_DATABASE
  '497', // ACCESS_DENIED
  '516', // AUTHENTICATION_FAILED
])

/**
 * ClickHouse refused a statement or went away. `engineCode` is its own number, or null when it did
 * not answer.
 */
export class ClickHouseFailure extends MillraceError {
  override readonly name = 'ClickHouseFailure'
  readonly code = 'clickhouse_failed'
  readonly remedy: 'retry' | 'stop'
  readonly engineCode: string | null

  constructor(cause: unknown) {
    const engineCode = cause instanceof ClickHouseError ? cause.code : null
    super(`ClickHouse refused a statement or went away (${engineCode ?? 'no answer'}): ${messageOf(cause)}`, {
      cause,
    })
    this.engineCode = engineCode
    this.remedy = engineCode !== null && stopCodes.has(engineCode) ? 'stop' : 'retry'
  }
}

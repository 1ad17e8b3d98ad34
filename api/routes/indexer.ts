/** GET and POST /v1/indexer/query: analysts' SQL on either engine, once or live. */
import type { BlockRange, RangeSet } from '#ingest/range.ts'
import { newestSegment } from '#ingest/range.ts'
import type { ChainId } from '#primitives.ts'
import {
  signatureCharactersMax,
  signatureExample,
  signaturesMax,
} from '#store/userQuery/decoded/signature.ts'
import type { Engine, UserQueryEngine } from '#store/userQuery/result.ts'
import { sqlBytesMax, sqlExample } from '#store/userQuery/text.ts'
import { UserQueryError } from '#store/userQuery/UserQueryError.ts'
import type { AccessRule, Caller } from '../http/access.ts'
import type { RawAnswer } from '../http/answer.ts'
import type { CacheClass } from '../http/cache.ts'
import { chainParameter, selectChain } from '../http/chain.ts'
import { conflict } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import * as p from '../http/parameter.ts'
import { rawEndpoint } from '../http/rawEndpoint.ts'
import * as s from '../http/schema.ts'
import { readLastEventId } from '../http/sse.ts'
import type { LiveHub, LiveRequest } from '../live/hub.ts'
import { type FormatName, formatNames } from '../results/format.ts'
import { acceptedFormat } from '../results/formats.ts'
import { answerResult } from '../results/resultAnswer.ts'
import { type ReadServices, readsOf } from './services.ts'

export interface IndexerServices extends ReadServices {
  readonly sql: Readonly<Record<Engine, UserQueryEngine>>
  readonly live: LiveHub
}

const indexerQuery: AccessRule = { who: 'anyone', scope: 'indexer:query', payable: true }

const queryResult = s.named('QueryResult', {
  ok: s.literal(true),
  columns: s.array(s.text()),
  columnTypes: s.array(
    s.text({
      description:
        'int, bigint, numeric, bytes, text, bool, timestamp, json, float, date… or an array of one.',
    }),
  ),
  rows: s.array(
    s.array(
      s.json(
        'Integers up to 32 bits are numbers, wider ones and exact numerics decimal strings; bytes are lowercase 0x hex; timestamps ISO 8601 in UTC.',
      ),
    ),
  ),
  row_count: s.count,
  truncated: s.boolean({ description: 'More rows exist than `limit`.' }),
  engine: s.oneOf(['postgres', 'clickhouse']),
  query_time_ms: s.number({ minimum: 0 }),
  rows_read: s.integer({ minimum: 0, description: 'Rows the engine read.' }),
  bytes_read: s.integer({
    minimum: 0,
    description: 'Bytes it read of them: uncompressed columns on ClickHouse, pages on Postgres.',
  }),
  digest: s.text({
    description: '`sha256:…` over names, types and rows; the same for the same result on both engines.',
  }),
  horizon: s.object(
    { from: s.count, to: s.count },
    { description: 'Newest run of blocks the query saw whole. Newer ones, and older gaps, it did not see.' },
  ),
})

const description =
  'Read-only SELECT over the base tables `blocks`, `txs`, `receipts`, `logs`; ClickHouse has the analytics tables too. ' +
  'With `live=true` the answer is a stream of server-sent events: `result` for every new block, read over that block ' +
  'alone; `retract` when blocks were orphaned (Postgres only: ClickHouse follows finalized blocks); `finalized`, ' +
  '`progress`, `lagged`, `error`. Go on from a place with Last-Event-ID. `live=snapshot` sends the whole result whenever ' +
  'it changed, for queries that no single block can answer.'

const limitDefault = 10_000
const timeoutMsDefault = 5_000

const produces = {
  'application/json': queryResult,
  'application/x-ndjson': s.text({ description: 'An object per row.' }),
  'text/csv': s.text({ description: 'RFC 4180 with a header line; NULL is an empty field.' }),
  'application/vnd.apache.arrow.stream': null,
  'application/vnd.apache.parquet': null,
  'text/event-stream': s.text({ description: 'Events whose data is JSON with `ok`.' }),
}

const shared = {
  path: '/v1/indexer/query',
  description,
  access: indexerQuery,
  errorFields: { ok: false },
  errors: [
    'sql_invalid',
    'parameter_conflict',
    'overloaded',
    'request_timeout',
    'upstream_error',
    'store_rebuilding',
  ],
  produces,
} as const

/** Line ends and tabs are part of SQL; the gate looks at the rest. */
const sqlText = p.parameter({
  schema: s.text({
    minLength: 1,
    maxLength: sqlBytesMax,
    examples: [sqlExample],
  }),
  description: "One SELECT, up to 65,536 bytes. `'0x…'` constants are bytes.",
  code: 'param_invalid',
  parse: (text) => {
    if (text === '') throw new p.ParameterError('expected one SELECT')
    if (Buffer.byteLength(text) > sqlBytesMax)
      throw new p.ParameterError(`expected at most ${sqlBytesMax} bytes`)
    return text
  },
})

const signatureText = p.parameter({
  schema: s.text({ minLength: 1, maxLength: signatureCharactersMax, examples: [signatureExample] }),
  description:
    'Signature of an event, or of a function after the word `function`: a table of its logs or calls, with a column per parameter.',
  code: 'param_invalid',
  parse: (text) => {
    if (text.length === 0 || text.length > signatureCharactersMax)
      throw new p.ParameterError(`expected 1 to ${signatureCharactersMax} characters`)
    return text
  },
})

export const signatureParameter = p.withDefault(p.repeated(signatureText, signaturesMax), [])

export const queryIndexerEndpoint = rawEndpoint({
  ...shared,
  summary: 'Runs one SQL query, once or live.',
  chain: 'query',
  filters: {
    sql: p.required(sqlText),
    signature: signatureParameter,
    engine: p.withDefault(
      p.described(
        p.oneOf('postgres', 'clickhouse'),
        '`postgres` follows the head, `clickhouse` what is final.',
      ),
      'postgres',
    ),
    live: p.withDefault(
      p.described(
        p.oneOf('false', 'true', 'snapshot'),
        '`true`: a stream with a result for every new block. `snapshot`: the whole result whenever it changed.',
      ),
      'false',
    ),
    limit: p.withDefault(p.described(p.integer(1, 10_000), 'Rows at most.'), limitDefault),
    timeout_ms: p.withDefault(
      p.described(p.integer(100, 30_000), 'Milliseconds the query may run.'),
      timeoutMsDefault,
    ),
    format: p.described(
      p.oneOf(...formatNames),
      'Format of the answer. Default: what `Accept` asks for, else JSON.',
    ),
  },
  check: ({ live, format }) =>
    live === 'false' || format === undefined
      ? undefined
      : conflict('format', 'a live query is a stream of events'),
  answer: ({ chainId, filters, signal, headers }, services: IndexerServices) => {
    const { sql, signature: signatures, engine, live, limit, timeout_ms: timeoutMs } = filters
    const format = filters.format ?? acceptedFormat(headers.accept)
    const query = { chainId, sql, signatures, engine, limit, timeoutMs }
    return live === 'false'
      ? wholeAnswer(query, format, signal, services, 'feed')
      : streamAnswer(query, modes[live], readLastEventId(headers), signal, services)
  },
})

export const postIndexerQueryEndpoint = rawEndpoint({
  ...shared,
  method: 'POST',
  summary: 'The same as GET, for queries too long for a URL.',
  body: s.object({
    sql: s.text({ minLength: 1, maxLength: sqlBytesMax, examples: [sqlExample] }),
    signature: s.optional(
      s.array(s.text({ minLength: 1, maxLength: signatureCharactersMax }), { maxItems: signaturesMax }),
    ),
    chainId: s.optional(s.union([s.text(), s.integer({ minimum: 1 })])),
    engine: s.optional(s.oneOf(['postgres', 'clickhouse'])),
    live: s.optional(s.union([s.boolean(), s.literal('snapshot')])),
    limit: s.optional(s.integer({ minimum: 1, maximum: 10_000 })),
    timeout_ms: s.optional(s.integer({ minimum: 100, maximum: 30_000 })),
    format: s.optional(s.oneOf(formatNames)),
  }),
  // Room for the escapes of a query of the full length.
  bodyBytesMax: 3 * sqlBytesMax,
  answer: ({ body, signal, headers, caller }, services: IndexerServices) => {
    const query = {
      chainId: bodyChain(body.chainId, services, caller),
      sql: body.sql,
      signatures: body.signature ?? [],
      engine: body.engine ?? 'postgres',
      limit: body.limit ?? limitDefault,
      timeoutMs: body.timeout_ms ?? timeoutMsDefault,
    }
    const { live = false, format = acceptedFormat(headers.accept) } = body
    if (live !== false && body.format)
      throw new ApiError('parameter_conflict', 'A live query is a stream of events.')
    return live === false
      ? wholeAnswer(query, format, signal, services, 'none')
      : streamAnswer(query, modes[`${live}`], readLastEventId(headers), signal, services)
  },
})

const modes = { true: 'blocks', snapshot: 'snapshot' } as const

interface Query {
  readonly chainId: ChainId
  readonly sql: string
  readonly signatures: readonly string[]
  readonly engine: Engine
  readonly limit: number
  readonly timeoutMs: number
}

function bodyChain(asked: string | number | undefined, services: ReadServices, caller: Caller): ChainId {
  try {
    const id = asked === undefined ? undefined : chainParameter.parse(`${asked}`)
    return selectChain(id, [...services.chains.keys()], caller)
  } catch (error) {
    if (!(error instanceof p.ParameterError)) throw error
    throw new ApiError('chain_id_invalid', undefined, {
      details: [{ path: ['body', 'chainId'], message: error.message }],
    })
  }
}

async function wholeAnswer(
  query: Query,
  format: FormatName,
  signal: AbortSignal,
  services: IndexerServices,
  cache: CacheClass,
): Promise<RawAnswer> {
  const { blocks, horizon } = visibleBlocks(query, services)
  const { chainId, sql, signatures, limit, timeoutMs } = query
  const request = { chainId, sql, signatures, limit, timeoutMs, blocks, signal }
  const engine = services.sql[query.engine]
  return publicly(() => answerResult({ engine, request, horizon, format, cache }))
}

async function streamAnswer(
  query: Query,
  mode: LiveRequest['mode'],
  lastEventId: string | undefined,
  signal: AbortSignal,
  { live }: IndexerServices,
): Promise<RawAnswer> {
  const request = { ...query, mode }
  await publicly(() => live.check(request, signal))
  return { kind: 'events', write: (stream) => live.serve(request, stream, lastEventId) }
}

/** What the engine may show now; taken once, so that the answer says exactly what the query saw. */
function visibleBlocks(
  { engine, chainId }: Query,
  services: ReadServices,
): { readonly blocks: RangeSet; readonly horizon: BlockRange } {
  const { state } = readsOf(services, chainId)
  const blocks = state.coverage(engine)
  const horizon = newestSegment(blocks)
  if (horizon) return { blocks, horizon }
  throw engine === 'postgres'
    ? new ApiError('history_incomplete', 'Nothing of this chain is indexed yet.')
    : new ApiError('store_rebuilding', 'ClickHouse holds nothing of this chain yet.')
}

/** A query's failure as the API tells it. */
export async function publicly<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UserQueryError ? apiErrorOf(error) : error
  }
}

function apiErrorOf(error: UserQueryError): ApiError {
  const cause = { cause: error }
  switch (error.code) {
    case 'signature_invalid':
    case 'sql_invalid':
    case 'sql_refused':
    case 'sql_failed': {
      const { line, column, hint } = error
      const place = line === undefined ? '' : ` (line ${line}, column ${column})`
      const message = `${error.message}${place}${hint === undefined ? '' : `; ${hint}`}`
      return new ApiError('sql_invalid', message, {
        ...cause,
        details: [
          {
            path: ['query', error.code === 'signature_invalid' ? 'signature' : 'sql'],
            message,
            ...(line !== undefined && { line }),
            ...(column !== undefined && { column }),
            ...(hint !== undefined && { hint }),
          },
        ],
      })
    }
    case 'sql_timeout':
      return new ApiError('request_timeout', `${error.message}; raise \`timeout_ms\` or ask for less.`, cause)
    case 'sql_busy':
      return new ApiError('overloaded', `${error.message}.`, { ...cause, headers: { 'retry-after': '2' } })
    case 'sql_cancelled':
    case 'sql_unavailable':
      return new ApiError('upstream_error', `${error.message}.`, cause)
  }
}

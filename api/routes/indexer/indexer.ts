/** GET and POST /v1/indexer/query: analysts' SQL on either engine, once or live. */

import type { IncomingHttpHeaders } from 'node:http'
import type { RawAnswer } from '#http/answer/answer.ts'
import type { CacheClass } from '#http/answer/cache.ts'
import { notValid } from '#http/endpoint.ts'
import { type ApiError, bodyProblem } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { type Caller, isStranger, partyOf } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { readLastEventId } from '#http/stream/sse.ts'
import { engines } from '#primitives.ts'
import { SIGNATURES_MAX } from '#query/decoded/signature.ts'
import { EXPORT_MS_MAX, EXPORT_ROWS_MAX, isExport, QUERY_MS_MAX, ROWS_MAX } from '#query/limits.ts'
import { queryPriceOf } from '#query/price.ts'
import { SQL_BYTES_MAX, sqlExample } from '#query/text.ts'
import { SIGNATURE_CHARACTERS_MAX, signatureExample } from '#transform/abi/signature.ts'
import type { LiveRequest } from '../../live/LiveHub.ts'
import { LiveModes } from '../../live/LiveModes.ts'
import { type FormatName, formatNames } from '../../results/format.ts'
import { acceptedFormat } from '../../results/formats.ts'
import { answerResult } from '../../results/resultAnswer.ts'
import {
  assertCost,
  bodyChain,
  dollars,
  dollarsText,
  type IndexerServices,
  indexerQuery,
  publicly,
  type SqlQuestion,
  TIMEOUT_MS_DEFAULT,
  visibleBlocks,
} from './userSql.ts'

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
  engine: s.oneOf(engines),
  query_time_ms: s.number({ minimum: 0 }),
  rows_read: s.nullable(
    s.integer({
      minimum: 0,
      description: 'Rows the engine read; null where it does not tell (the embedded ClickHouse).',
    }),
  ),
  bytes_read: s.nullable(
    s.integer({
      minimum: 0,
      description: 'Bytes it read of them: uncompressed columns on ClickHouse, pages on Postgres.',
    }),
  ),
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
  'With `live=true` the answer is a stream of server-sent events: `result` with the rows of every new block; `retract` when blocks were orphaned (Postgres only: ClickHouse follows finalized blocks); `finalized`, ' +
  '`progress`, `lagged` (blocks to be asked for again; `foreign` where the Last-Event-ID is none of this stream), `error`. Go on from a place with Last-Event-ID. ' +
  'Where new rows do not continue the answer (aggregates, GROUP BY, DISTINCT, ORDER BY, windows, LIMIT, unless of one block), ' +
  'and with `live=snapshot`, each `result` has `reset: true` and is the whole answer again, whenever it changed.'

const produces = {
  'application/json': queryResult,
  'application/x-ndjson': s.text({ description: 'An object per row.' }),
  'text/csv': s.text({ description: 'RFC 4180 with a header line; NULL is an empty field.' }),
  'application/vnd.apache.arrow.stream': null,
  'application/vnd.apache.parquet': null,
  'text/event-stream': s.text({ description: 'Events whose data is JSON with `ok`.' }),
}

const limitText = `Rows at most. More than ${ROWS_MAX} are streamed as CSV, NDJSON, Arrow or Parquet, one export of a caller at a time.`
const timeoutText = `Milliseconds the query may run. Default ${TIMEOUT_MS_DEFAULT}, at most ${QUERY_MS_MAX}; of an export ${EXPORT_MS_MAX}.`

const shared = {
  path: '/v1/indexer/query',
  description,
  access: indexerQuery,
  errorFields: { ok: false },
  errors: [
    'sql_invalid',
    'chain_id_invalid',
    'chain_id_unsupported',
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
    maxLength: SQL_BYTES_MAX,
    examples: [sqlExample],
  }),
  description: "One SELECT, up to 65,536 bytes. `'0x…'` constants are bytes.",
  code: 'param_invalid',
  parse: (text) => {
    if (text === '') throw new p.ParameterError('expected one SELECT')
    if (Buffer.byteLength(text) > SQL_BYTES_MAX)
      throw new p.ParameterError(`expected at most ${SQL_BYTES_MAX} bytes`)
    return text
  },
})

const signatureText = p.parameter({
  schema: s.text({ minLength: 1, maxLength: SIGNATURE_CHARACTERS_MAX, examples: [signatureExample] }),
  description:
    'Signature of an event, or of a function after the word `function`: a table of its logs or calls, with a column per parameter.',
  code: 'param_invalid',
  parse: (text) => {
    if (text.length === 0 || text.length > SIGNATURE_CHARACTERS_MAX)
      throw new p.ParameterError(`expected 1 to ${SIGNATURE_CHARACTERS_MAX} characters`)
    return text
  },
})

export const signatureParameter = p.withDefault(p.repeated(signatureText, SIGNATURES_MAX), [])

export const queryIndexerEndpoint = rawEndpoint({
  ...shared,
  summary: 'Runs one SQL query, once or live.',
  chain: 'query',
  filters: {
    sql: p.required(sqlText),
    signature: signatureParameter,
    engine: p.withDefault(
      p.described(p.oneOf(...engines), '`postgres` follows the head, `clickhouse` what is final.'),
      'postgres',
    ),
    live: p.withDefault(
      p.described(
        p.oneOf('false', 'true', 'snapshot'),
        '`true`: a stream with the rows of every new block, or the whole answer again (`reset: true`) where rows do not continue it. `snapshot`: always the whole.',
      ),
      'false',
    ),
    limit: p.withDefault(p.described(p.integer(1, EXPORT_ROWS_MAX), limitText), ROWS_MAX),
    timeout_ms: p.described(p.integer(100, EXPORT_MS_MAX), timeoutText),
    maxCost: p.described(dollarsText, 'The most the query may cost; a dearer one is refused.'),
    format: p.described(
      p.oneOf(...formatNames),
      'Format of the answer. Default: what `Accept` asks for, else JSON.',
    ),
  },
  units: ({ filters: { limit } }) => unitsOf(limit),
  price: ({ filters, ...asking }, services: IndexerServices) => quotedPrice(filters, asking, services),
  assertAnswerable: ({ filters, ...call }, services: IndexerServices) => {
    const { signature: signatures, timeout_ms: timeoutMs, ...asked } = filters
    return assertAnswerable({ ...asked, signatures, timeoutMs }, 'query', call, services)
  },
  answer: ({ filters, ...call }, services: IndexerServices) => {
    const { signature: signatures, timeout_ms: timeoutMs, ...asked } = filters
    return answerTo({ ...asked, signatures, timeoutMs }, 'query', call, services)
  },
})

const queryBody = s.object({
  sql: s.text({ minLength: 1, maxLength: SQL_BYTES_MAX, examples: [sqlExample] }),
  signature: s.optional(
    s.array(s.text({ minLength: 1, maxLength: SIGNATURE_CHARACTERS_MAX }), { maxItems: SIGNATURES_MAX }),
  ),
  chainId: s.optional(s.union([s.text(), s.integer({ minimum: 1 })])),
  engine: s.optional(s.oneOf(engines)),
  live: s.optional(s.union([s.boolean(), s.literal('snapshot')])),
  limit: s.optional(s.integer({ minimum: 1, maximum: EXPORT_ROWS_MAX, description: limitText })),
  timeout_ms: s.optional(s.integer({ minimum: 100, maximum: EXPORT_MS_MAX, description: timeoutText })),
  format: s.optional(s.oneOf(formatNames)),
  maxCost: s.optional(dollars),
})

export const postIndexerQueryEndpoint = rawEndpoint({
  ...shared,
  method: 'POST',
  summary: 'The same as GET, for queries too long for a URL.',
  body: queryBody,
  // Room for the escapes of a query of the full length.
  bodyBytesMax: 3 * SQL_BYTES_MAX,
  units: ({ body: { limit = ROWS_MAX } }) => unitsOf(limit),
  price: ({ body, ...asking }, services: IndexerServices) => {
    const { chainId: named, signature = [], engine = 'postgres', limit = ROWS_MAX, sql } = body
    const chainId = bodyChain(named, services, asking.caller)
    return quotedPrice({ sql, signature, engine, limit }, { ...asking, chainId }, services)
  },
  assertAnswerable: ({ body, ...call }, services: IndexerServices) => {
    const chainId = bodyChain(body.chainId, services, call.caller)
    return assertAnswerable(askedInBody(body), 'body', { ...call, chainId }, services)
  },
  answer: ({ body, ...call }, services: IndexerServices) => {
    const chainId = bodyChain(body.chainId, services, call.caller)
    return answerTo(askedInBody(body), 'body', { ...call, chainId }, services)
  },
})

const askedInBody = ({
  chainId: _,
  signature: signatures = [],
  timeout_ms: timeoutMs,
  live = false,
  engine = 'postgres',
  limit = ROWS_MAX,
  ...rest
}: s.Static<typeof queryBody>): Asked => ({
  ...rest,
  engine,
  limit,
  signatures,
  timeoutMs,
  live: liveOf(live),
})

const liveOf = (live: boolean | 'snapshot'): Live =>
  live === true ? 'true' : live === false ? 'false' : live

/** An export takes an engine for minutes where a query takes it for seconds. */
const EXPORT_UNITS = 5

const unitsOf = (limit: number): number => (isExport(limit) ? EXPORT_UNITS : 1)

/** `true` and `snapshot` are streams of events. */
type Live = 'false' | 'true' | 'snapshot'

/** A question as GET and POST ask it. */
interface Asked extends Omit<SqlQuestion, 'chainId' | 'timeoutMs' | 'maxCost' | 'party' | 'behind'> {
  readonly live: Live
  readonly timeoutMs?: number | undefined
  readonly maxCost?: string | undefined
  readonly format?: FormatName | undefined
}

/** The place of a question: the URL, or the body. */
type AskedIn = 'query' | 'body'

interface Asking {
  readonly chainId: number
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  readonly signal: AbortSignal
}

/** The question, and the format of its answer. @throws ApiError for parts that do not fit together */
function questionOf(
  { live, format: named, timeoutMs: askedMs, ...asked }: Asked,
  askedIn: AskedIn,
  { chainId, headers, caller }: Omit<Asking, 'signal'>,
): { readonly query: SqlQuestion; readonly format: FormatName } {
  if (live !== 'false' && named !== undefined)
    throw refusal(askedIn, 'format', 'a live query is a stream of events')
  const format = named ?? acceptedFormat(headers.accept)
  const timeoutMs = timeoutOf(askedMs, asked.limit, live === 'false' ? format : null, askedIn)
  return { query: { ...asked, maxCost: asked.maxCost, chainId, timeoutMs, ...sharesOf(caller) }, format }
}

/** @throws ApiError for a question that would not be answered now; nothing of it is run */
async function assertAnswerable(
  asked: Asked,
  askedIn: AskedIn,
  asking: Asking,
  services: IndexerServices,
): Promise<void> {
  const { query } = questionOf(asked, askedIn, asking)
  const { blocks } = visibleBlocks(query, services)
  const { maxCost: _, ...request } = query
  await publicly(() => services.sql[query.engine].assertReady({ ...request, blocks, signal: asking.signal }))
}

function answerTo(
  asked: Asked,
  askedIn: AskedIn,
  asking: Asking,
  services: IndexerServices,
): Promise<RawAnswer> {
  const { headers, caller, signal } = asking
  const { live } = asked
  const { query, format } = questionOf(asked, askedIn, asking)
  return live === 'false'
    ? wholeAnswer(query, format, signal, services, askedIn === 'query' ? 'feed' : 'none')
    : streamAnswer({ ...query, caller, live }, readLastEventId(headers), signal, services)
}

const refusal = (askedIn: AskedIn, name: string, message: string): ApiError =>
  askedIn === 'query' ? notValid(name, message) : bodyProblem(name, message)

/**
 * Milliseconds the query may run; `format` null is a live one.
 * @throws ApiError for an export as JSON or live, and for the time of one where there is none
 */
function timeoutOf(
  asked: number | undefined,
  limit: number,
  format: FormatName | null,
  askedIn: AskedIn,
): number {
  if (isExport(limit)) {
    if (format !== null && format !== 'json') return asked ?? EXPORT_MS_MAX
    throw refusal(
      askedIn,
      'limit',
      `expected 1 to ${ROWS_MAX}; up to ${EXPORT_ROWS_MAX} with format csv, ndjson, arrow or parquet`,
    )
  }
  if (asked !== undefined && asked > QUERY_MS_MAX)
    throw refusal(
      askedIn,
      'timeout_ms',
      `expected 100 to ${QUERY_MS_MAX}; up to ${EXPORT_MS_MAX} with a limit above ${ROWS_MAX}`,
    )
  return asked ?? TIMEOUT_MS_DEFAULT
}

/** The query's price in dollars, by `explain`. @throws ApiError where it could not run */
async function quotedPrice(
  {
    signature: signatures,
    engine,
    ...asked
  }: Pick<SqlQuestion, 'sql' | 'engine' | 'limit'> & {
    readonly signature: readonly string[]
  },
  { chainId, caller, signal }: Omit<Asking, 'headers'>,
  services: IndexerServices,
): Promise<string> {
  const { blocks } = visibleBlocks({ engine, chainId }, services)
  const request = { ...asked, chainId, signatures, timeoutMs: TIMEOUT_MS_DEFAULT, blocks, signal }
  const { estimate } = await publicly(() => services.sql[engine].explain({ ...request, ...sharesOf(caller) }))
  return queryPriceOf(estimate)
}

const modes = new LiveModes()

/** The slots that a query takes: whose, and how many of them. */
const sharesOf = (caller: Caller) => ({ party: partyOf(caller), behind: isStranger(caller) })

async function wholeAnswer(
  query: SqlQuestion,
  format: FormatName,
  signal: AbortSignal,
  services: IndexerServices,
  cache: CacheClass,
): Promise<RawAnswer> {
  const { blocks, horizon } = visibleBlocks(query, services)
  const { chainId, sql, signatures, limit, timeoutMs, party, behind } = query
  const request = { chainId, sql, signatures, limit, timeoutMs, blocks, signal, party, behind }
  const engine = services.sql[query.engine]
  return publicly(async () => {
    await assertCost(query.maxCost, engine, request)
    return answerResult({ engine, request, horizon, format, cache })
  })
}

async function streamAnswer(
  query: SqlQuestion & Omit<LiveRequest, 'mode'> & { readonly live: Exclude<Live, 'false'> },
  lastEventId: string | undefined,
  signal: AbortSignal,
  services: IndexerServices,
): Promise<RawAnswer> {
  const { live, sql } = services
  const { maxCost, party: _, behind: __, live: asked, ...question } = query
  const request = await publicly(async () => {
    // Rows of new blocks are asked for; a query that they do not continue is told whole.
    const mode = asked === 'true' ? await modes.of(query.engine, query.sql) : asked
    const request = { ...question, mode }
    // A stream may begin before the chain does; only a price needs blocks.
    if (maxCost !== undefined)
      await assertCost(maxCost, sql[query.engine], { ...request, ...visibleBlocks(query, services), signal })
    await live.check(request, signal)
    return request
  })
  return { kind: 'events', write: (stream) => live.serve(request, stream, lastEventId) }
}

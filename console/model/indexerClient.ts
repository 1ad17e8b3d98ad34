/** Asks a running program: SQL once, its plan, other resources. */
import { keyHeaders } from './apiKey.ts'
import {
  isObject,
  parseFailure,
  parseQueryAnswer,
  type QueryAnswer,
  type QueryRequest,
  RequestFailure,
} from './queryAnswer.ts'
import { parseQueryPlan, type QueryPlan } from './queryPlan.ts'

/** The longest the server lets a query run; a shorter wait is a press of Stop. */
const TIMEOUT_MS = 30_000

/**
 * `origin` is the address the API's paths are relative to, with a slash at its end. @throws
 * RequestFailure
 */
export async function runQuery(
  origin: string,
  request: QueryRequest,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const response = await postQuery(origin, request, { signal })
  return parseQueryAnswer(await response.json())
}

/** The reads and the cost of the query; it is not run. @throws RequestFailure */
export async function explainQuery(
  origin: string,
  { sql, signatures, engine, chainId, limit }: QueryRequest,
  signal: AbortSignal,
): Promise<QueryPlan> {
  const body = JSON.stringify({
    sql,
    engine,
    limit,
    ...(signatures && { signature: signatures }),
    ...(chainId !== null && { chainId }),
  })
  const headers = { 'content-type': 'application/json', ...keyHeaders() }
  const response = await requireAnswer(signal, () =>
    fetch(new URL('v1/indexer/explain', origin), { method: 'POST', headers, body, signal }),
  )
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return parseQueryPlan(answer)
  throw parseFailure(answer, response.status)
}

/** Sends the query; the answer is a success. @throws RequestFailure, or the signal's reason */
export async function postQuery(
  origin: string,
  { sql, signatures, engine, chainId, limit }: QueryRequest,
  options: {
    readonly signal: AbortSignal
    readonly live?: boolean | 'snapshot'
    readonly lastEventId?: string | null
  },
): Promise<Response> {
  const { signal, live = false, lastEventId = null } = options
  const response = await requireAnswer(signal, () =>
    fetch(new URL('v1/indexer/query', origin), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...keyHeaders(),
        ...(lastEventId !== null && { 'last-event-id': lastEventId }),
      },
      body: JSON.stringify({
        sql,
        engine,
        limit,
        live,
        timeout_ms: TIMEOUT_MS,
        ...(signatures && { signature: signatures }),
        ...(chainId !== null && { chainId }),
      }),
      signal,
    }),
  )
  if (response.ok) return response
  throw parseFailure(await response.json().catch(() => null), response.status)
}

/**
 * Any other resource of the program, which is of the page's own version: its type is not looked at
 * again (`wire.ts`). `headers`: those that say who asks.
 * @throws RequestFailure, or the signal's reason
 */
export async function readResource<Answer extends object>(
  origin: string,
  path: string,
  signal: AbortSignal,
  headers = keyHeaders(),
): Promise<Answer> {
  const read = () => fetch(new URL(path, origin), { signal, headers, cache: 'no-cache' })
  return resourceOf(await requireAnswer(signal, read))
}

/**
 * The program's answer to a text of JSON, which is sent as it is.
 * @throws RequestFailure, or the signal's reason
 */
export async function postResource<Answer extends object>(
  origin: string,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...keyHeaders() }
  return resourceOf(
    await requireAnswer(signal, () =>
      fetch(new URL(path, origin), { method: 'POST', headers, body, signal }),
    ),
  )
}

async function resourceOf<Answer extends object>(response: Response): Promise<Answer> {
  const body: unknown = await response.json().catch(() => null)
  if (response.ok && isObject(body)) return body as Answer
  throw parseFailure(body, response.status)
}

export async function requireAnswer(signal: AbortSignal, send: () => Promise<Response>): Promise<Response> {
  try {
    return await send()
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestFailure('no_answer', 'The program does not answer.', 0, null, { cause })
  }
}

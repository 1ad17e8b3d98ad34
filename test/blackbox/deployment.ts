/**
 * Requests to a deployment. Every answer, whatever it is for, is held to the rules that all answers
 * share.
 */
import { AnswerSchemas, type Json, type Operation } from './apiDocument.ts'
import type { Trial } from './trial.ts'

export interface Answer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON; undefined for other content. */
  readonly body: Json
}

export interface Deployment {
  readonly origin: string
  readonly document: Json
  readonly schemas: AnswerSchemas
  /** Query parameters added to every request that selects a chain. */
  readonly chainId: string | undefined
  /** Headers of every request, such as an API key. */
  readonly headers: Readonly<Record<string, string>>
}

/** Longer than the deadline that every operation promises. */
const answerMsMax = 70_000
/** Requests that a quota may hold up, and for how long. */
const triesMax = 5
const retryAfterSecondsMax = 60

/** @throws Error when there is no API to talk to */
export async function openDeployment(
  origin: string,
  { chainId, apiKey }: { chainId?: string | undefined; apiKey?: string | undefined } = {},
): Promise<Deployment> {
  const headers = apiKey === undefined ? {} : { 'svc-api-key': apiKey }
  const response = await fetch(`${origin}/openapi.json`, {
    headers,
    signal: AbortSignal.timeout(answerMsMax),
  })
  if (response.status !== 200) throw new Error(`${origin}/openapi.json answers ${response.status}`)
  const document: Json = await response.json()
  return { origin, document, schemas: new AnswerSchemas(document), chainId, headers }
}

/** Sends a request of the operation and checks what every answer must have. */
export async function ask(
  trial: Trial,
  operation: Operation,
  url: string,
  init: RequestInit = {},
): Promise<Answer> {
  const answer = await send(trial.deployment, url, { method: operation.method, ...init })
  const method = init.method ?? operation.method
  checkAnswer(trial, method, answer)
  if (answer.body !== undefined && method === operation.method) {
    const { status, body } = answer
    const problems = trial.deployment.schemas.problems(operation.path, method, status, body)
    trial.expect(problems.length === 0, `${url}: ${problems.slice(0, 3).join('; ')}`)
  }
  return answer
}

export async function send(deployment: Deployment, url: string, init: RequestInit): Promise<Answer> {
  const headers = {
    origin: deployment.origin,
    ...deployment.headers,
    ...Object.fromEntries(new Headers(init.headers)),
  }
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(answerMsMax)
    const response = await fetch(deployment.origin + url, { redirect: 'manual', signal, ...init, headers })
    const text = await response.text()
    const waitSeconds = Number(response.headers.get('retry-after') ?? 1)
    if (response.status === 429 && tries < triesMax && waitSeconds <= retryAfterSecondsMax) {
      await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000))
      continue
    }
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
    const body = isJson ? JSON.parse(text) : undefined
    return { url, status: response.status, headers: response.headers, text, body }
  }
}

function checkAnswer(trial: Trial, method: string, answer: Answer): void {
  const { url, status, headers, body } = answer
  const what = `${method} ${url} (${status})`
  const requestId = headers.get('svc-request-id')
  trial.expect(!!requestId, `${what} has no svc-request-id`)
  const readers = headers.get('access-control-allow-origin')
  const isOwn = readers === trial.deployment.origin
  trial.expect(readers === '*' || isOwn, `${what} is closed to the pages of every origin, its own too`)
  trial.expect(
    headers.get('access-control-expose-headers')?.includes('svc-request-id') === true,
    `${what} does not expose its headers`,
  )
  trial.expect(status < 500 || status === 503, `${what} is a failure: ${answer.text.slice(0, 200)}`)
  if (status < 400) return
  trial.expect(headers.get('cache-control') === 'no-store', `${what} may be stored`)
  if (method === 'HEAD' || (status === 503 && !body?.error)) return
  trial.expect(typeof body?.error?.code === 'string', `${what} is not the error envelope`)
  trial.expect(body?.requestId === requestId, `${what} does not echo its request id`)
}

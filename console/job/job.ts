/** Jobs and their receipts, as the API answers whoever has the id. */
import { keyHeaders } from '../model/apiKey.ts'
import { readResource, requireAnswer } from '../model/indexerClient.ts'
import { isObject, parseFailure, RequestFailure } from '../model/queryAnswer.ts'

/** `test/console/wire.test.ts` holds these against the API's schemas. */
export interface Job {
  readonly jobId: string
  readonly ready: boolean
  readonly usage?: { readonly committed: string; readonly currency: string }
  readonly error?: JobError
  /** Absent while its payment has not settled. */
  readonly order?: JobOrder
  /** In the plan's order. */
  readonly runs?: readonly JobRun[]
}

interface JobError {
  readonly code: string
  readonly message: string
  readonly remedy: 'retry' | 'change_plan' | 'none'
}

export interface JobOrder {
  readonly planHash: string
  readonly charged: string
  readonly currency: string
  readonly state: string
  readonly refund?: { readonly status: string; readonly amount: string; readonly transactionHash?: string }
  readonly createdAt: string
  readonly endedAt?: string
}

export interface JobRun {
  readonly nodeId: string
  readonly serviceId: string
  readonly method: string
  readonly path: string
  /** Absent once the results are removed. */
  readonly dependsOn?: readonly string[]
  readonly state: string
  readonly carried: boolean
  readonly quoted: string
  readonly attempts: readonly JobAttempt[]
  readonly nextTryAt?: string
  readonly outputBytes?: number
  readonly outputDigest?: string
  readonly error?: JobError
}

export interface JobAttempt {
  readonly attempt: number
  /** Absent while it is under way. */
  readonly outcome?: string
  readonly status?: number
  readonly code?: string
  readonly paid?: JobPayment
  readonly durationMs?: number
}

export interface JobPayment {
  readonly amount: string
  /** Absent while it is not known. */
  readonly fee?: string
  readonly chainId: number
  readonly transactionHash?: string
}

export interface JobReceipt {
  readonly job: { readonly payer: string }
  readonly settlement: {
    readonly protocol: string
    readonly chainId: number
    readonly transactionHash: string | null
    readonly finality: 'pending' | 'confirmed' | 'differs' | 'reversed'
  } | null
}

/** An id as somebody pastes it: alone, or in a link. Null where there is none. */
export const jobIdIn = (text: string): string | null =>
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(text)?.[0].toLowerCase() ?? null

const pathOf = (jobId: string): string => `v1/jobs/${encodeURIComponent(jobId)}`

/** Without what the nodes answered. @throws RequestFailure, or the signal's reason */
export const readJob = (origin: string, jobId: string, signal: AbortSignal): Promise<Job> =>
  readResource(origin, `${pathOf(jobId)}?include=runs&results=false`, signal)

/**
 * JSON of what a node answered, as its service wrote it; null where it is not kept.
 * @throws RequestFailure, or the signal's reason
 */
export async function readOutput(
  origin: string,
  jobId: string,
  nodeId: string,
  signal: AbortSignal,
): Promise<string | null> {
  const asked = new URLSearchParams({ nodeId })
  const { text } = await readText(origin, `${pathOf(jobId)}?${asked}`, signal)
  return outputIn(text, nodeId)
}

/** The text of the one output in an answer: reading it as JSON would lose digits. */
export function outputIn(answer: string, nodeId: string): string | null {
  const before = `"result":{${JSON.stringify(nodeId)}:`
  const start = answer.indexOf(before)
  // No text of the members behind the results can hold this unescaped.
  const end = answer.lastIndexOf('},"usage":')
  return start === -1 || end < start ? null : answer.slice(start + before.length, end)
}

/**
 * A receipt byte for byte, as checks of it need it; null before the job has ended.
 * @throws RequestFailure, or the signal's reason
 */
export async function readReceipt(
  origin: string,
  jobId: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly receipt: JobReceipt } | null> {
  const { text, status } = await readText(origin, `${pathOf(jobId)}/receipt`, signal)
  // The server's own schema.
  return status === 200 ? { text, receipt: JSON.parse(text) as JobReceipt } : null
}

/** A job's progress, as server-sent events. @throws RequestFailure, or the signal's reason */
export async function openEvents(
  origin: string,
  jobId: string,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { ...keyHeaders(), ...(lastEventId !== null && { 'last-event-id': lastEventId }) }
  return succeeded(
    await requireAnswer(signal, () =>
      fetch(new URL(`${pathOf(jobId)}/events`, origin), { signal, headers, cache: 'no-store' }),
    ),
  )
}

async function readText(
  origin: string,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly status: number }> {
  const asked = () => fetch(new URL(path, origin), { signal, headers: keyHeaders(), cache: 'no-store' })
  const response = await succeeded(await requireAnswer(signal, asked))
  try {
    return { text: await response.text(), status: response.status }
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestFailure('connection_lost', 'The connection was lost.', 0, null, { cause })
  }
}

async function succeeded(response: Response): Promise<Response> {
  if (response.ok) return response
  const body: unknown = await response.json().catch(() => null)
  throw parseFailure(isObject(body) ? body : null, response.status)
}

/**
 * The extension `io.modelcontextprotocol/tasks` of the revision 2026-07-28: to a client that declares
 * it, a job is a task of the same id. A task is a view of its job's rows, so that any process answers
 * for it, whatever became of the one that made it.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
} from '@modelcontextprotocol/server'
import { Compile } from 'typebox/compile'
import { apiErrorOf } from '#http/answer/thrown.ts'
import { ApiError, type ErrorCode } from '#http/errors.ts'
import { problemsOf } from '#http/request/problems.ts'
import * as s from '#http/schema.ts'
import { isPaying } from '#payments/methods/mppOverMcp.ts'
import { isRecord, type Json, membersOf } from '#primitives.ts'
import { findStanding, type JobStanding } from '#rows/jobs/reads.ts'
import { cancelJob, doorOf } from '../operations.ts'
import { callTool, type MessageCall } from './callTool.ts'
import { getJobTool, jobIdSchema } from './jobTools.ts'
import { nextActionOf } from './nextActions.ts'
import { payingHeaders, paymentAsked, paymentRefused } from './paying.ts'
import type { ToolServices } from './tool.ts'

const TASKS = 'io.modelcontextprotocol/tasks'

/** Extensions as a side of the protocol declares them. */
export const taskExtensions = { [TASKS]: {} }

/** Whether the client of a request declares the extension, which it does with each request. */
export function declaresTasks(params: Json): boolean {
  const capabilities = membersOf(membersOf(params['_meta'])[CLIENT_CAPABILITIES_META_KEY])
  return isRecord(membersOf(capabilities['extensions'])[TASKS])
}

/** How often a task is asked for at first, and once it has taken its time. */
const POLL_MS = 2_000
const LATE_POLL_MS = 10_000
const YOUNG_MS = 60_000

type TaskServices = Pick<ToolServices, 'app' | 'resultsKeptMs'>

/** A task as its client is told; null for an id that no job has. Times are in ISO 8601. */
export async function taskOf(jobId: string, { app, resultsKeptMs }: TaskServices) {
  const standing = await findStanding(app, jobId)
  if (!standing) return null
  const { createdAt, changedAt, ageMs } = standing
  const status = statusOf(standing)
  return {
    ...{ taskId: jobId, status, statusMessage: messageOf(standing) },
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: changedAt.toISOString(),
    ttlMs: ttlOf(standing, resultsKeptMs),
    ...(status === 'working' && { pollIntervalMs: ageMs < YOUNG_MS ? POLL_MS : LATE_POLL_MS }),
  }
}

/** A job that failed has a result, which tells why: `failed` is for errors of the protocol alone. */
function statusOf({ state, endedAt }: JobStanding): 'working' | 'completed' | 'cancelled' {
  if (endedAt === null) return 'working'
  return state === 'cancelled' ? 'cancelled' : 'completed'
}

function messageOf({ state, nodes, nodesEnded }: JobStanding): string {
  switch (state) {
    case 'ordered':
      return 'Its payment has not settled yet.'
    case 'queued':
    case 'running':
      return `${nodesEnded} of ${nodes} nodes have ended.`
    case 'cancelled':
      return 'It was cancelled; get_job tells what it has, by the same id.'
    default:
      return `The job has ended: ${state}.`
  }
}

/** Until outputs are removed, so many days after the end; null before the end of it can be known. */
function ttlOf({ createdAt, endedAt, deadlineAt }: JobStanding, keptMs: number): number | null {
  const end = endedAt ?? deadlineAt
  return end && end.getTime() + keptMs - createdAt.getTime()
}

/** Answers to the extension's methods, from the params of the request as they came. */
export function serveTasks(server: Server, params: Json, call: MessageCall, defects: unknown[]): void {
  for (const [method, { form, answer }] of Object.entries(methods))
    server.setRequestHandler(method, { params: asTheyCame }, async () => {
      if (!declaresTasks(params)) throw undeclared()
      try {
        if (!form.Check(params)) throw paramInvalid(problemsOf(form.Errors(params), params, ['params']))
        return await answer(`${params['taskId']}`.toLowerCase(), call, defects)
      } catch (thrown) {
        throw refusalOf(thrown, defects)
      }
    })
}

/** The library hands over no params but those that a schema lets through. */
const asTheyCame = {
  '~standard': { version: 1, vendor: 'millrace', validate: (value: unknown) => ({ value }) },
} as const

const undeclared = () =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: taskExtensions } })

/** Refuses to send news of tasks; who asks for it has to declare them all the same. */
export function refusedListening(message: unknown): Response | null {
  const { method, id = null, params } = membersOf(message)
  const asked = membersOf(params)
  const isAsked = method === 'subscriptions/listen' && 'taskIds' in membersOf(asked['notifications'])
  if (!isAsked || declaresTasks(asked)) return null
  const { code, message: told, data } = undeclared()
  return Response.json({ jsonrpc: '2.0', id, error: { code, message: told, data } }, { status: 400 })
}

async function getTask(jobId: string, call: MessageCall, defects: unknown[]): Promise<Result> {
  const task = await existing(jobId, call)
  if (task.status !== 'completed') return task
  const { result } = await callTool(getJobTool, { job_id: jobId }, call, defects, nextOfResult)
  return { ...task, result: { resultType: 'complete', ...result } }
}

/** The result is that of create_job, which must not be called again for outputs. */
const nextOfResult = (code: ErrorCode): string =>
  code === 'parameter_conflict' ? 'Call get_job with node_ids of what details list.' : nextActionOf(code)

/** No job asks its client for anything: whatever it is told answers nothing, and is let be. */
async function updateTask(jobId: string, call: MessageCall): Promise<Result> {
  await existing(jobId, call)
  return {}
}

/** For the account that bought the job: as POST /v1/jobs/{jobId}/cancel, of which the proof is one too. */
async function cancelTask(jobId: string, call: MessageCall): Promise<Result> {
  await existing(jobId, call)
  const { services, caller } = call
  const headers = payingHeaders(call)
  const request = { method: 'POST', url: `/v1/jobs/${jobId}/cancel`, body: undefined }
  const proved = await doorOf(services.jobs).proofs.prove(headers, request, caller)
  if (proved.kind === 'challenged')
    throw isPaying(headers)
      ? paymentRefused(proved, 'The proof was not accepted. Answer one of these challenges.')
      : paymentAsked(proved, 'The account that bought the job proves itself by one of these challenges.')
  await cancelJob(jobId, proved.payer, services)
  return {}
}

/** @throws ApiError job_not_found */
async function existing(jobId: string, { services }: MessageCall) {
  const task = await taskOf(jobId, services)
  if (task) return task
  const details = [{ path: ['params', 'taskId'], message: 'is of no task' }]
  throw new ApiError('job_not_found', 'params.taskId is of no task.', { details })
}

const taskIdForm = s.openObject({ taskId: jobIdSchema })
const identified = Compile(taskIdForm)
const answered = Compile(
  s.openObject({ ...taskIdForm.properties, inputResponses: s.record(s.json('An answer.')) }),
)

interface Method {
  readonly form: typeof identified | typeof answered
  readonly answer: (jobId: string, call: MessageCall, defects: unknown[]) => Promise<Result>
}

const methods: Readonly<Record<string, Method>> = {
  'tasks/get': { form: identified, answer: getTask },
  'tasks/update': { form: answered, answer: updateTask },
  'tasks/cancel': { form: identified, answer: cancelTask },
}

const paramInvalid = (details: ApiError['details']): ApiError => {
  const [first] = details
  return new ApiError('param_invalid', first && `${first.path.join('.')} ${first.message}.`, { details })
}

/** A failure that is nobody's mistake: implementations may give this code a meaning. */
const SERVER_ERROR = -32_000
const ofParams: ReadonlySet<ErrorCode> = new Set(['param_invalid', 'job_not_found', 'forbidden'])

function refusalOf(thrown: unknown, defects: unknown[]): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const { code, message, details } = apiErrorOf(thrown)
  if (code === 'internal_error') defects.push(thrown)
  return new ProtocolError(ofParams.has(code) ? ProtocolErrorCode.InvalidParams : SERVER_ERROR, message, {
    error: { code, message, ...(details.length > 0 && { details }) },
  })
}

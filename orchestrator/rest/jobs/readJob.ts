/** GET /v1/jobs/{jobId} and its events. Whoever knows the id may read: it is told to nobody else. */
import { Readable } from 'node:stream'
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as p from '#http/request/parameter.ts'
import { type EventStream, encodeFrame, readLastEventId } from '#http/stream/sse.ts'
import type { AppDatabase } from '#rows/database.ts'
import { readEvents } from '#rows/jobs/events.ts'
import { findJob } from '#rows/jobs/reads.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import { jobReads } from '../../allowance.ts'
import { jobSchema, publicJob } from '../../job/publicJob.ts'
import { NODE_ID_CHARACTERS_MAX, NODES_MAX } from '../../plan/plan.ts'

/** Services that reads of jobs work with. */
export interface JobReadServices {
  readonly app: AppDatabase
  /** Rings when something of a job of this process was written. */
  readonly jobsChanged: CommitBell
  readonly clock: Clock
}

export const jobIdParameter = p.described(p.uuid, 'Id of the job: a UUID, in any case.')

/** An id in an address must not travel on. */
export const privately = { 'referrer-policy': 'no-referrer' }

export const readJobEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}',
  summary: 'A job: 202 while it runs, 200 with its results.',
  description:
    'The id grants access: keep it to yourself. Outputs are kept for some days after the end (`RESULT_DAYS`).',
  tag: 'Services',
  access: jobReads,
  params: { jobId: jobIdParameter },
  filters: {
    results: p.withDefault(p.described(p.boolean, '`false` leaves `result` empty.'), true),
    nodeId: p.withDefault(
      p.repeated(
        p.described(p.text(NODE_ID_CHARACTERS_MAX), 'Node whose output alone is told. Default: all.'),
        NODES_MAX,
      ),
      [],
    ),
  },
  include: ['runs'],
  produces: { 'application/json': jobSchema },
  statuses: [200, 202],
  errors: ['param_invalid', 'job_not_found'],
  answer: async ({ path: { jobId }, filters, include }, { app }: JobReadServices) => {
    const { results, nodeId: named } = filters
    const nodeIds = results ? (named.length > 0 ? new Set(named) : null) : new Set<string>()
    const job = await publicJob(app, jobId, include.has('runs'), nodeIds)
    if (!job) throw new ApiError('job_not_found')
    return {
      kind: 'bytes',
      status: job.isReady ? 200 : 202,
      contentType: 'application/json; charset=utf-8',
      body: Readable.from(job.pieces, { objectMode: false }),
      headers: privately,
    }
  },
})

/** Read together. */
const EVENTS_MAX = 200
/** How long to wait without a ring: bounds the delay of what another process wrote. */
const LOOK_MS = 1_000

export const jobEventsEndpoint = rawEndpoint({
  path: '/v1/jobs/{jobId}/events',
  summary: 'What becomes of a job, as it happens.',
  description:
    'Server-sent events `job` and `node` with the new state; the last one is the job’s end. `Last-Event-ID` goes on from there.',
  tag: 'Services',
  access: jobReads,
  deadlineMs: null,
  params: { jobId: jobIdParameter },
  produces: { 'text/event-stream': null },
  errors: ['param_invalid', 'job_not_found'],
  answer: async ({ path: { jobId }, headers }, services: JobReadServices) => {
    if ((await findStanding(services.app, jobId)) === null) throw new ApiError('job_not_found')
    const seen = Number(readLastEventId(headers) ?? 0)
    const after = Number.isSafeInteger(seen) && seen >= 0 ? seen : 0
    return { kind: 'events', headers: privately, write: (stream) => follow(stream, jobId, after, services) }
  },
})

/** An order is a job that has not begun; it is none any more if its payment fails. */
async function findStanding(app: AppDatabase, jobId: string): Promise<'running' | 'ended' | null> {
  const job = await findJob(app, jobId)
  if (!job) return null
  return job === 'ordered' || job.endedAt === null ? 'running' : 'ended'
}

async function follow(
  stream: EventStream,
  jobId: string,
  after: number,
  { app, jobsChanged, clock }: JobReadServices,
): Promise<void> {
  let last = after
  await repeat({ clock, signal: stream.signal }, async () => {
    const { rings } = jobsChanged
    // Before the events: what is written in between is read the next time.
    const isOver = (await findStanding(app, jobId)) !== 'running'
    const events = await readEvents(app, jobId, last, EVENTS_MAX)
    for (const { sequence, type, data } of events) {
      stream.send(encodeFrame({ event: type, id: String(sequence), data }))
      last = sequence
    }
    if (events.length === EVENTS_MAX) return 0
    if (isOver) return 'ended'
    await jobsChanged.wait(clock, LOOK_MS, stream.signal, rings)
    return 0
  })
}

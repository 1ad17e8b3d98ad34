/** `millrace jobs`: what was bought, what became of it, and the end of what should not go on. */
import { failure } from '#errors.ts'
import { decimalText } from '#money/amounts.ts'
import { publicJob } from '#orchestrator/job/publicJob.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { isOrdered } from '#rows/jobs/orders.ts'
import { listJobs, readJob, requestCancel } from '#rows/jobs/reads.ts'
import { removeComments } from '#rows/jobs/reviews.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { withDatabases } from '../../stores.ts'

/** Jobs shown at once. */
const SHOWN = 1_000

export async function printJobs(config: Config, json: boolean, runtime: Runtime, log: Logger): Promise<void> {
  const jobs = await withRows(config, runtime, log, (app) => listJobs(app, SHOWN))
  const told = jobs.map(({ chargedUnits, committedUnits, decimals, createdAt, endedAt, ...job }) => ({
    ...job,
    charged: decimalText(chargedUnits, decimals),
    committed: committedUnits === null ? null : decimalText(committedUnits, decimals),
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }))
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else
    for (const { jobId, state, charged, committed, currency, payer, createdAt, isReversed } of told)
      process.stdout.write(
        `${createdAt}  ${state.padEnd(19)}  ${committed ?? '-'} of ${charged} ${currency}  ${payer}  ${jobId}${isReversed ? '  the chain took its payment back' : ''}\n`,
      )
}

/** @throws JobNotFoundError */
export async function printJob(config: Config, jobId: string, runtime: Runtime, log: Logger): Promise<void> {
  await withRows(config, runtime, log, async (app) => {
    const job = isUuid(jobId) ? await publicJob(app, jobId, true) : null
    if (!job) throw new JobNotFoundError()
    for await (const piece of job.pieces) process.stdout.write(piece)
    process.stdout.write('\n')
  })
}

/** @throws JobNotFoundError */
export async function cancelJob(config: Config, jobId: string, runtime: Runtime, log: Logger): Promise<void> {
  await withRows(config, runtime, log, async (app) => {
    const job = isUuid(jobId) ? await readJob(app, jobId) : null
    if (!job && !(isUuid(jobId) && (await isOrdered(app, jobId)))) throw new JobNotFoundError()
    const isAsked = await requestCancel(app, jobId)
    const otherwise = job ? 'it has ended, or was cancelled before' : 'its payment has not settled: ask later'
    process.stdout.write(`${isAsked ? 'nothing more of it is begun' : otherwise}\n`)
  })
}

/** Ratings and tags stay. @throws JobNotFoundError, ReviewNotFoundError */
export async function uncommentJob(
  config: Config,
  jobId: string,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  await withRows(config, runtime, log, async (app) => {
    if (!isUuid(jobId) || !(await readJob(app, jobId))) throw new JobNotFoundError()
    if (!(await removeComments(app, jobId))) throw new ReviewNotFoundError()
    process.stdout.write('its comments are removed; ratings and tags stay\n')
  })
}

/** Other texts are no ids to the database. */
const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

const withRows = <Result>(
  config: Config,
  runtime: Runtime,
  log: Logger,
  work: (app: AppDatabase) => Promise<Result>,
): Promise<Result> => withDatabases(config, runtime, log, ({ postgres }) => work(appDatabase(postgres)))

/** The id is not repeated: it grants access. */
class JobNotFoundError extends failure('JobNotFoundError', 'job_not_found', 'stop') {
  constructor() {
    super('no job has this id')
  }
}

class ReviewNotFoundError extends failure('ReviewNotFoundError', 'review_not_found', 'stop') {
  constructor() {
    super('this job has no review')
  }
}

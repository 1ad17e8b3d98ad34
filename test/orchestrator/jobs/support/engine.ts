/** An engine of jobs on a real database, with scripted sellers. */
import { onTestFinished } from 'vitest'
import type { JobOrder } from '#orchestrator/job/createJob.ts'
import { Jobs, type JobsOptions } from '#orchestrator/job/Jobs.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import { place } from './jobOrder.ts'
import { type Sale, ScriptedSellers } from './scriptedSellers.ts'

/** Ends with the test. @param others in the place of what is scripted */
export function openEngine(
  app: AppDatabase,
  sales: Readonly<Record<string, Sale>>,
  others: Partial<JobsOptions> = {},
) {
  const sellers = new ScriptedSellers(sales)
  const [due, changed] = [new CommitBell(), new CommitBell()]
  const runtime = systemRuntime()
  const { buyer, egress, endpointOf } = sellers
  const scripted = { buyer, egress, endpointOf, log: silentLogger }
  const jobs = new Jobs({ app, ...scripted, due, changed, runtime, ...others })
  const end = new AbortController()
  const running = jobs.run(end.signal)
  onTestFinished(async () => {
    end.abort()
    await running
  })
  const begin = async (order: JobOrder) => {
    const jobId = await place(app, order)
    due.ring()
    return jobId
  }
  const ended = async (jobId: string) => {
    for (;;) {
      const { rings } = changed
      const job = await app
        .selectFrom('app.jobs')
        .selectAll()
        .where('id', '=', jobId)
        .executeTakeFirstOrThrow()
      if (job.ended_at) return job
      await changed.wait(runtime.clock, 1_000, end.signal, rings)
    }
  }
  return {
    ...{ sellers, changed, begin, ended },
    stop: () => {
      end.abort()
      return running
    },
    run: async (order: JobOrder) => {
      const job = await ended(await begin(order))
      const nodes = await app.selectFrom('app.job_nodes').selectAll().where('job_id', '=', job.id).execute()
      return { job, nodes: new Map(nodes.map((each) => [each.node_id, each])) }
    },
  }
}

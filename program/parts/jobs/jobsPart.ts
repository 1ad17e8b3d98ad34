/** Jobs: run here as in every process on the database, where there is a wallet to buy with. */
import { Jobs } from '#orchestrator/job/Jobs.ts'
import { OwnCalls } from '#orchestrator/job/OwnCalls.ts'
import { jobReadEndpoints } from '#orchestrator/rest/jobs/index.ts'
import type { JobReadServices } from '#orchestrator/rest/jobs/readJob.ts'
import { SuspensionWatch } from '#orchestrator/verify/SuspensionWatch.ts'
import { appDatabase } from '#rows/database.ts'
import { removeResults } from '#rows/jobs/reads.ts'
import { repeat } from '#runtime/repeat.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { aborted } from '../../process/stopSignal.ts'
import { askServer } from '../askServer.ts'
import { type Base, definePart, type Part } from '../part.ts'
import type { WalletPart } from '../wallet/walletPart.ts'

export interface JobsPart extends Part<JobReadServices> {
  /** Rung when a job was made. */
  readonly due: CommitBell
  /** Jobs run from now on: the catalog has the services that ship where they answer now. */
  begin(): void
}

const DAY_MS = 24 * 3_600_000
/** How often results that are past their time are looked for. */
const REMOVE_MS = 10 * 60_000
/** Jobs begin without a chain that does not answer. */
const LOOK_MS_MAX = 15_000
/** Between two pieces of them. */
const PIECE_MS = 1_000

export const jobsPart = definePart({
  name: 'jobs',
  endpoints: jobReadEndpoints,
  alarms: [{ code: 'endpoint_suspended', passesMs: 0 }],
  open: openJobsPart,
})

interface BesideJobs {
  readonly wallet: Pick<WalletPart, 'buyer' | 'looked'>
}

function openJobsPart(base: Base, { wallet: { buyer, looked } }: BesideJobs): JobsPart {
  const { config, program, egress, ownOrigins, server, runtime, log } = base
  const { postgres } = program.engines
  const app = appDatabase(postgres)
  const [due, changed] = [new CommitBell(), new CommitBell()]
  const { clock } = runtime
  const begun = Promise.withResolvers<void>()
  const isOwn = (origin: string) => ownOrigins.has(origin)
  const own = buyer && new OwnCalls({ buyer, isOwn, ask: askServer(server), clock })
  const jobs = own && new Jobs({ app, buyer: own, egress, due, changed, runtime, log })
  const suspensions = new SuspensionWatch({ app, clock, log })
  const failed = { log, ms: REMOVE_MS, message: 'results of jobs could not be removed' }
  return {
    due,
    begin: begun.resolve,
    problems: () => suspensions.problems(),
    services: { app: appDatabase({ pool: postgres.reads }), jobsChanged: changed, clock },
    run: ({ shutdown: signal }) =>
      Promise.all([
        Promise.race([begun.promise, aborted(signal)])
          // A job that ends before would owe its payer what a chain has paid and its database forgotten.
          .then(() => Promise.race([looked, clock.sleep(LOOK_MS_MAX, signal).catch(() => {})]))
          .then(() => jobs?.run(signal)),
        jobs && suspensions.run(signal),
        repeat({ clock, signal, failed }, async () =>
          (await removeResults(app, config.resultDays * DAY_MS)) ? PIECE_MS : REMOVE_MS,
        ),
      ]),
  }
}

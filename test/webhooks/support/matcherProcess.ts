/** Child process: a matcher that catches up with its chain, and says how much memory that took. */
import { appDatabase } from '#rows/database.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { openMatcher } from './openMatcher.ts'

/** The parent's task, as JSON in the environment. */
export interface MatcherTask {
  readonly databaseUrl: string
  readonly chainId: number
  readonly schema: string
}

/** The report at its end. */
export interface MatcherReport {
  readonly steps: number
  /** The most that was ever resident. */
  readonly residentBytes: number
}

const { databaseUrl, chainId, schema }: MatcherTask = JSON.parse(process.env['MATCHER_TASK'] ?? '{}')
const postgres = openPostgres({ url: databaseUrl, applicationName: 'matcher', log: silentLogger })
const matcher = await openMatcher({ app: appDatabase(postgres), postgres, chainId, schema })
let steps = 0
while (await matcher.step(new AbortController().signal)) steps++
const report: MatcherReport = { steps, residentBytes: process.resourceUsage().maxRSS * 1_024 }
process.stdout.write(JSON.stringify(report))
await postgres.close()

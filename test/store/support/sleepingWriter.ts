/** Child process: a writer in the middle of a long statement. Arguments: the database, the statement. */
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'

const [url = '', statement = ''] = process.argv.slice(2)
const HOUR_MS = 3_600_000
const postgres = openPostgres({
  url,
  applicationName: 'test',
  statementTimeoutMs: HOUR_MS,
  log: silentLogger,
})
await postgres.transaction((client) => client.query(statement))

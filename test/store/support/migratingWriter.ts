/** Child process: brings a chain's schema up to date. Arguments: the database, the chain. */
import { postgresLeases } from '#rows/leases.ts'
import { migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'

const [url = '', chain = ''] = process.argv.slice(2)
const postgres = openPostgres({ url, applicationName: 'migrating', log: silentLogger })
await migrateChain(postgres, Number(chain), { leases: postgresLeases(postgres) })
await postgres.close()

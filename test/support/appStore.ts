/**
 * A fresh database with the schema `app`, for tests of the service's own rows; dropped when the
 * file's tests have ended.
 */
import { afterAll } from 'vitest'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { migratedDatabase } from './engines.ts'

export interface AppStore {
  readonly databaseUrl: string
  readonly postgres: Postgres
  readonly app: AppDatabase
}

/** Called at the top of a test file. */
export async function openAppStore(): Promise<AppStore> {
  const { databaseUrl, drop } = await migratedDatabase()
  const postgres = openPostgres({ url: databaseUrl, applicationName: 'test', log: silentLogger })
  afterAll(async () => {
    await postgres.close()
    await drop()
  })
  await migrateApp(postgres)
  return { databaseUrl, postgres, app: appDatabase(postgres) }
}

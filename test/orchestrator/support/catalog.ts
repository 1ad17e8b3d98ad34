/** A catalog in a database of its own. */
import { onTestFinished } from 'vitest'
import { type CatalogImport, importDocument } from '#orchestrator/importCatalog.ts'
import { type SearchRequest, search } from '#orchestrator/search/search.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { createLogger } from '#telemetry.ts'
import { migratedDatabase } from '../../support/engines.ts'

export interface TestCatalog {
  readonly app: AppDatabase
  /** On the connections that the program's endpoints read with. */
  readonly reads: AppDatabase
  readonly importAs: (sourceId: string, document: unknown, location?: string) => Promise<CatalogImport>
  readonly search: (query: string, more?: Partial<SearchRequest>) => ReturnType<typeof search>
}

export async function openCatalog(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<TestCatalog> {
  const database = await migratedDatabase()
  const log = createLogger('silent')
  const postgres = openPostgres({ url: database.databaseUrl, applicationName: 'test', log })
  atEnd(async () => {
    await postgres.close()
    await database.drop()
  })
  await migrateApp(postgres)
  const app = appDatabase(postgres)
  const reads = appDatabase({ pool: postgres.reads })
  return {
    app,
    reads,
    importAs: (sourceId, document, location = sourceId) =>
      importDocument(app, document, { location, sourceId }),
    search: (query, more = {}) => search(reads, { ...plainly, query, ...more }),
  }
}

const plainly: SearchRequest = {
  query: '',
  limit: 8,
  resolution: 'static',
  serviceIds: null,
  serviceMode: null,
  withEvidence: false,
}

/** A service of our own format. */
export const shop = (id: string, more: object = {}) => ({
  id,
  name: `Shop ${id}`,
  description: `Things of ${id}.`,
  serviceUrl: `https://${id}.example/api`,
  endpoints: [{ method: 'GET', path: '/things', description: 'Lists things.' }],
  ...more,
})

/**
 * `millrace catalog`: imports, lists, shows, verifies and removes services; also beside a running program,
 * which finds them at once.
 */
import { readFile } from 'node:fs/promises'
import { healthWords } from '#console/model/services.ts'
import { SettingError } from '#errors.ts'
import { serviceOf } from '#orchestrator/catalog/description/describe.ts'
import type { CatalogService } from '#orchestrator/catalog/service.ts'
import { importCatalog } from '#orchestrator/importCatalog.ts'
import { EVALUATED_MAX, evaluate, readJudgements } from '#orchestrator/search/evaluate.ts'
import { search } from '#orchestrator/search/search.ts'
import { type Verified, Verifier } from '#orchestrator/verify/Verifier.ts'
import { removeEntries } from '#rows/catalog/catalogEntries.ts'
import { findServices, listServices, type ServiceSummary } from '#rows/catalog/catalogReads.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import type { Logger } from '#telemetry.ts'
import { counted } from '#text/quantity.ts'
import type { Config } from '../../config.ts'
import { openWayOut } from '../../parts/wayOut.ts'
import { withDatabases } from '../../stores.ts'

/** Services read at a time. */
const PAGE_SERVICES = 100

/** The context of a command of the catalog. */
export interface CatalogContext {
  readonly config: Config
  readonly runtime: Runtime
  readonly log: Logger
  readonly stop: AbortSignal
}

/** False when something of the source was left out; it is named on standard error. */
export function importServices(
  context: CatalogContext,
  { location, sourceId }: { readonly location: string; readonly sourceId: string | null },
): Promise<boolean> {
  return withCatalog(context, async (app) => {
    const report = await importCatalog({
      app,
      egress: openWayOut(context.config).egress,
      location,
      ...(sourceId !== null && { sourceId }),
      signal: context.stop,
    })
    for (const { path, message } of report.problems) process.stderr.write(`${path.join('.')}: ${message}\n`)
    const { added, changed, unchanged, removed, form } = report
    print(
      `${location} is ${form}: ${added} added, ${changed} changed, ${unchanged} unchanged, ${removed} removed`,
    )
    print(
      `source ${report.sourceId}${report.problems.length > 0 ? `, ${counted(report.problems.length, 'problem')}` : ''}`,
    )
    return report.problems.length === 0
  })
}

export function printServices(context: CatalogContext, asJson: boolean): Promise<void> {
  return withCatalog(context, async (app) => {
    for await (const { serviceId, summary, endpointCount } of allServices(app)) {
      // Documents are written by this program's import.
      const { name, serviceUrl } = summary as CatalogService
      if (asJson) print(JSON.stringify(await findService(app, serviceId)))
      else print(`${serviceId}  ${name}  ${serviceUrl}  ${counted(endpointCount, 'endpoint')}`)
    }
  })
}

/** By id, some read at a time. */
async function* allServices(app: AppDatabase) {
  let after: string | null = null
  do {
    const page: ServiceSummary[] = await listServices(app, { after, limit: PAGE_SERVICES })
    yield* page
    after = page.length < PAGE_SERVICES ? null : (page.at(-1)?.serviceId ?? null)
  } while (after !== null)
}

async function findService(app: AppDatabase, serviceId: string): Promise<CatalogService | undefined> {
  const [stored] = await findServices(app, [serviceId])
  return stored && serviceOf(stored)
}

/** @throws SettingError for an id that no service has */
export function printService(context: CatalogContext, serviceId: string): Promise<void> {
  return withCatalog(context, async (app) => {
    const service = await findService(app, serviceId)
    if (!service) throw new SettingError('id', `no service has the id ${serviceId}`)
    print(JSON.stringify(service, null, 2))
  })
}

/** @throws SettingError when there is nothing to remove */
export function removeServices(
  context: CatalogContext,
  of: { readonly serviceId: string } | { readonly sourceId: string },
): Promise<void> {
  return withCatalog(context, async (app) => {
    const count = await removeEntries(app, of)
    if (count === 0) throw new SettingError('id' in of ? 'id' : '--source', 'nothing in the catalog is of it')
    print(`${count} removed`)
  })
}

/**
 * Looks at every endpoint of a service, or of all, now. False when one failed; it is named with
 * what it did. What runs on this machine is left to the program that serves it.
 * @throws SettingError for an id that no service has
 */
export function verifyServices(context: CatalogContext, serviceId: string | null): Promise<boolean> {
  return withCatalog(context, async (app) => {
    const { clock, random } = context.runtime
    const isOwn = (origin: string) => isLoopback(new URL(origin).hostname)
    const { egress } = openWayOut(context.config)
    const verifier = new Verifier({ app, egress, clock, random, isOwn })
    if (serviceId !== null && (await findServices(app, [serviceId])).length === 0)
      throw new SettingError('id', `no service has the id ${serviceId}`)
    let failed = 0
    for await (const id of serviceId === null ? idsOf(allServices(app)) : [serviceId]) {
      const found = await verifier.verifyService(id, context.stop)
      for (const each of found) print(verifiedLine(each))
      failed += found.filter(({ sight }) => sight?.outcome === 'failed').length
    }
    return failed === 0
  })
}

async function* idsOf(services: AsyncIterable<ServiceSummary>) {
  for await (const { serviceId } of services) yield serviceId
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)

/** The longest word of a state. */
const STATE_WIDTH = Math.max(...Object.values(healthWords).map(({ length }) => length))

function verifiedLine({ serviceId, method, path, state, sight }: Verified): string {
  const { price, recipient } = sight?.drift ?? {}
  const drifts = [
    price && `price ${price.listed} is ${price.live}`,
    recipient && `recipient ${recipient.listed} is ${recipient.live}`,
  ]
  return [healthWords[state].padEnd(STATE_WIDTH), `${serviceId} ${method} ${path}`, sight?.problem, ...drifts]
    .filter(Boolean)
    .join('  ')
}

export function printEvaluation(context: CatalogContext, location: string): Promise<void> {
  return withCatalog(context, async (app) => {
    const judgements = readJudgements(JSON.parse(await readFile(location, 'utf8')), location)
    const { mrr, hitAt8, ranks } = await evaluate(judgements, async (query) => {
      const { endpoints } = await search(app, { ...everything, query })
      return endpoints.map(({ serviceId }) => serviceId)
    })
    for (const { query, rank, first } of ranks)
      print(`${rank ?? '-'}  ${query}  ${rank === 1 ? '' : `(first: ${first})`}`)
    print(`MRR ${mrr.toFixed(3)}, hit@8 ${hitAt8.toFixed(3)}, ${counted(ranks.length, 'query', 'queries')}`)
  })
}

const everything = {
  limit: EVALUATED_MAX,
  resolution: 'static',
  serviceIds: null,
  serviceMode: null,
  withEvidence: false,
} as const

function withCatalog<Result>(
  { config, runtime, log }: CatalogContext,
  work: (app: AppDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabases(config, runtime, log, async ({ postgres }) => {
    await migrateApp(postgres)
    return work(appDatabase(postgres))
  })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

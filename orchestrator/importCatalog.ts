/**
 * Imports a file or URL: read, recognized, each service checked, and the catalog made to hold what
 * is listed now.
 */
import { readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { parse as parseYaml } from 'yaml'
import type { Egress } from '#egress/Egress.ts'
import { failure, MillraceError, messageOf } from '#errors.ts'
import type { RequestProblem } from '#http/errors.ts'
import { itemsOf, membersOf, shorten } from '#primitives.ts'
import type { CatalogEntry } from '#rows/catalog/catalogEntries.ts'
import { type ImportReport, importEntries } from '#rows/catalog/catalogImport.ts'
import type { AppDatabase } from '#rows/database.ts'
import { skeletonOf } from '#text/skeleton.ts'
import type { ServiceDraft } from './catalog/import/importer.ts'
import { importers } from './catalog/import/index.ts'
import { readService } from './catalog/readService.ts'
import type { CatalogService } from './catalog/service.ts'
import { searchDocument, termsOf } from './search/searchDocument.ts'

/** The largest known list has 18,000 endpoints in 3 MB. */
const SOURCE_BYTES_MAX = 64 * 1_024 * 1_024
const PAGE_BYTES_MAX = 16 * 1_024 * 1_024
/** The bazaar has some 20 pages. */
const PAGES_MAX = 500

export interface CatalogImport extends Omit<ImportReport, 'idTaken'> {
  readonly sourceId: string
  /** The form that the document was taken for. */
  readonly form: string
  /** Parts left out, by place and field. */
  readonly problems: readonly RequestProblem[]
}

export interface ImportOptions {
  readonly app: AppDatabase
  readonly egress: Pick<Egress, 'fetch'>
  /** A file's path, or a URL. */
  readonly location: string
  /** Default: the file's name, or the URL's host and path. */
  readonly sourceId?: string
  readonly signal: AbortSignal
}

/** @throws CatalogSourceError for a source that cannot be read as a whole: nothing is changed */
export async function importCatalog({
  app,
  egress,
  location,
  sourceId = sourceOf(location),
  signal,
}: ImportOptions): Promise<CatalogImport> {
  const document = isUrl(location)
    ? await fetchAll(location, egress, signal)
    : parseDocument(await readSource(location), location)
  return importDocument(app, document, { location, sourceId })
}

/** The same for a document that is at hand. */
export async function importDocument(
  app: AppDatabase,
  document: unknown,
  { location, sourceId }: { readonly location: string; readonly sourceId: string },
): Promise<CatalogImport> {
  const importer = importers.find(({ accepts }) => accepts(document))
  if (!importer) throw new CatalogSourceError(location, 'is in no form that is known here')
  const { entries, keep, problems } = readDrafts(importer.read(document, location))
  const { idTaken, ...report } = await importEntries(app, sourceId, entries, keep)
  const taken = idTaken.map((id) => ({ path: [id, 'id'], message: 'belongs to a service with another URL' }))
  return { ...report, sourceId, form: importer.name, problems: [...problems, ...taken] }
}

function readDrafts(drafts: readonly ServiceDraft[]) {
  const entries = new Map<string, CatalogEntry>()
  const keep: string[] = []
  const problems: RequestProblem[] = []
  for (const { externalId, place, service: draft } of drafts) {
    const { service, problems: found } = readService(draft)
    problems.push(...found.map((problem) => ({ ...problem, path: [...place, ...problem.path] })))
    if (!service) keep.push(externalId)
    else if (entries.has(externalId)) problems.push({ path: [...place, 'id'], message: 'is listed twice' })
    else entries.set(externalId, entryOf(externalId, service))
  }
  return { entries: [...entries.values()], keep, problems }
}

function entryOf(externalId: string, service: CatalogService): CatalogEntry {
  return {
    externalId,
    serviceId: service.id,
    serviceUrl: service.serviceUrl,
    skeleton: skeletonOf(service.name),
    document: service,
    endpoints: service.endpoints.map((endpoint) => {
      const document = searchDocument(service, endpoint)
      return { terms: termsOf(document.fields), document }
    }),
  }
}

const isUrl = (location: string): boolean => /^https?:\/\//i.test(location)

function sourceOf(location: string): string {
  if (!isUrl(location)) return basename(location, extname(location))
  const { host, pathname } = new URL(location)
  return `${host}${pathname}`.replace(/\/+$/, '').slice(0, 200)
}

async function readSource(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size > SOURCE_BYTES_MAX)
      throw new CatalogSourceError(path, `is larger than ${SOURCE_BYTES_MAX} bytes`)
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof MillraceError) throw cause
    throw new CatalogSourceError(path, 'cannot be read', { cause })
  }
}

/** JSON is YAML too, but its own parser is a hundred times faster. */
function parseDocument(text: string, location: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return parseAsYaml(text, location)
  }
}

function parseAsYaml(text: string, location: string): unknown {
  try {
    return parseYaml(text)
  } catch (cause) {
    throw new CatalogSourceError(location, `is neither JSON nor YAML: ${shorten(messageOf(cause), 200)}`, {
      cause,
    })
  }
}

/** A document, and where it is a page of a list, all pages as one. */
async function fetchAll(url: string, egress: Pick<Egress, 'fetch'>, signal: AbortSignal): Promise<unknown> {
  const first = await fetchDocument(url, egress, signal)
  const { items, pagination } = membersOf(first)
  if (!Array.isArray(items) || pagination === undefined) return first
  const all: unknown[] = [...items]
  let total = totalOf(pagination)
  for (let page = 1; total === null || all.length < total; page++) {
    if (page === PAGES_MAX) throw new CatalogSourceError(url, `has more than ${PAGES_MAX} pages`)
    const next = new URL(url)
    next.searchParams.set('offset', `${all.length}`)
    next.searchParams.set('limit', `${items.length}`)
    const answer = membersOf(await fetchDocument(next.href, egress, signal))
    const more = itemsOf(answer['items'])
    if (more.length === 0 && total === null) break
    if (more.length === 0) throw new CatalogSourceError(url, `ends after ${all.length} of ${total} items`)
    all.push(...more)
    total = totalOf(answer['pagination']) ?? total
  }
  return { items: all }
}

/** Null where a source does not say it: its pages end with an empty one. */
function totalOf(pagination: unknown): number | null {
  const { total } = membersOf(pagination)
  return typeof total === 'number' && Number.isSafeInteger(total) ? total : null
}

async function fetchDocument(
  url: string,
  egress: Pick<Egress, 'fetch'>,
  signal: AbortSignal,
): Promise<unknown> {
  const headers = { accept: 'application/json, application/yaml;q=0.5' }
  const answer = await egress.fetch({ url, headers, purpose: 'catalog', bytesMax: PAGE_BYTES_MAX, signal })
  if (answer.status !== 200) throw new CatalogSourceError(url, `answered ${answer.status}`)
  return parseDocument(answer.body.toString('utf8'), url)
}

/** A source that cannot be imported. Nothing was changed. */
export class CatalogSourceError extends failure('CatalogSourceError', 'catalog_source_invalid', 'stop') {
  constructor(location: string, problem: string, options?: ErrorOptions) {
    super(`${location}: ${problem}`, options)
  }
}

/** GET /v1/services and GET /v1/services/{serviceId}. */
import { endpoint, notValid } from '#http/endpoint.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import type { PageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { listServices } from '#rows/catalog/catalogReads.ts'
import { pageOf } from '#store/read/lists/page.ts'
import { catalogReads } from '../allowance.ts'
import { looksLikeSchema } from '../catalog/description/description.ts'
import {
  type CatalogService,
  methods,
  PATH_CHARACTERS_MAX,
  SERVICE_ID_PATTERN,
  serviceIdSchema,
} from '../catalog/service.ts'
import { describeService, type OrchestratorServices } from '../operations.ts'

const serviceId = p.described(
  p.text(100, new RegExp(SERVICE_ID_PATTERN)),
  'Id of a service.',
  'param_invalid',
)

export const describeServiceEndpoint = endpoint({
  path: '/v1/services/{serviceId}',
  summary: 'A service with its endpoints, or one of them.',
  description: 'Free. `method` and `path` together select one endpoint, by the template that search gives.',
  tag: 'Services',
  chain: 'none',
  access: catalogReads,
  params: { serviceId },
  filters: {
    method: p.described(p.oneOf(...methods), 'With `path`: of one endpoint.'),
    path: p.described(p.text(PATH_CHARACTERS_MAX), 'With `method`: the template of one endpoint.'),
  },
  check: ({ method, path }) =>
    (method === undefined) === (path === undefined)
      ? undefined
      : notValid(method === undefined ? 'path' : 'method', '`method` and `path` go together'),
  errors: describeService.errors,
  response: describeService.output,
  cache: 'metadata',
  read: ({ path, filters, caller, signal }, services: OrchestratorServices) => {
    const request = { serviceId: path.serviceId, method: filters.method, path: filters.path }
    return describeService.run(request, services, { caller: caller.id, signal })
  },
  present: (description) => description,
})

const pages: PageRules = {
  limitMin: 1,
  limitMax: 100,
  limitDefault: 20,
  windowRows: 10_000,
  modes: 'cursorOnly',
  orders: 'asc',
}

export const listServicesEndpoint = listEndpoint({
  path: '/v1/services',
  summary: 'All services of the catalog, by id, without their endpoints.',
  tag: 'Services',
  chain: 'none',
  access: catalogReads,
  errors: ['rate_limit_exceeded'],
  pages,
  cache: 'metadata',
  item: s.named('ServiceSummary', {
    id: serviceIdSchema,
    name: s.text(),
    description: s.text(),
    serviceUrl: s.text(),
    realm: s.text(),
    categories: s.array(s.text()),
    tags: s.array(s.text()),
    endpointCount: s.count,
    looksLike: looksLikeSchema,
  }),
  list: async ({ page }, { app }: OrchestratorServices) => {
    const after = page.position === undefined ? null : String(page.position[0])
    const found = await listServices(app, { after, limit: page.limit + 1 })
    return pageOf(found, page.limit, ({ serviceId }) => [serviceId])
  },
  present: ({ serviceId, summary, endpointCount, looksLike }) => {
    // Documents are written by this program's import.
    const { name, description, serviceUrl, realm, categories, tags } = summary as CatalogService
    return {
      ...{ id: serviceId, name, description, serviceUrl, realm, categories, tags, endpointCount },
      ...(looksLike !== null && { looksLike }),
    }
  },
})

/** GET /v1/services/search. */
import { endpoint, notValid } from '#http/endpoint.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { searches } from '../allowance.ts'
import { SERVICE_ID_PATTERN } from '../catalog/service.ts'
import {
  type OrchestratorServices,
  QUERY_CHARACTERS_MAX,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SERVICE_FILTERS_MAX,
  searchServices,
} from '../operations.ts'

const query = p.parameter<string>({
  schema: s.text({ maxLength: QUERY_CHARACTERS_MAX }),
  description: 'The intent, in words. Empty lists the catalog.',
  code: 'param_invalid',
  parse: (text) => {
    if (text.length > QUERY_CHARACTERS_MAX)
      throw new p.ParameterError(`expected up to ${QUERY_CHARACTERS_MAX} characters`)
    return text
  },
})
const serviceId = p.text(100, new RegExp(SERVICE_ID_PATTERN))

export const searchServicesEndpoint = endpoint({
  path: '/v1/services/search',
  summary: 'Finds endpoints of paid services by intent.',
  description:
    'Free. The best endpoints first, with the reasons for which they were found. `serviceId` without `serviceMode` requires those services.',
  tag: 'Services',
  chain: 'none',
  access: searches,
  filters: {
    query: p.withDefault(query, ''),
    limit: p.withDefault(p.integer(1, SEARCH_LIMIT_MAX), SEARCH_LIMIT_DEFAULT),
    resolution: p.withDefault(
      p.described(
        p.oneOf('static', 'live'),
        '`live` probes sellers where it is enabled; the answer says what ran.',
      ),
      'static',
    ),
    serviceId: p.described(
      p.repeated(serviceId, SERVICE_FILTERS_MAX),
      'Only, or preferably, these services; repeated.',
    ),
    serviceMode: p.described(
      p.oneOf('require', 'prefer'),
      '`require`: only the named services; `prefer`: them first.',
    ),
    evidence: p.described(p.oneOf('pre-confidence'), 'Adds the candidates before the confidence filter.'),
  },
  check: ({ serviceId: ids, serviceMode }) =>
    serviceMode !== undefined && ids === undefined ? notValid('serviceMode', 'needs `serviceId`') : undefined,
  response: searchServices.output,
  cache: 'none',
  errors: searchServices.errors,
  read: ({ filters, caller, signal }, services: OrchestratorServices) => {
    const { query: asked, limit, resolution, serviceId: ids, serviceMode, evidence } = filters
    const request = {
      ...{ query: asked, limit, resolution },
      serviceIds: ids ?? null,
      serviceMode: serviceMode ?? null,
      withEvidence: evidence !== undefined,
    }
    return searchServices.run(request, services, { caller: caller.id, signal })
  },
  present: (result) => result,
})

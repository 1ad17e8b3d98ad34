/** A search's results: each endpoint with its price, and the reasons for which it is there. */
import {
  type FoundEndpoint,
  type PlanNode,
  priceText,
  type SearchQuestion,
  type SearchResult,
} from '../../model/services.ts'
import { button, element } from '../element.ts'
import { badge } from '../parts/badge.ts'
import { planLink, verifiedText } from './parts.ts'

export interface ResultPlaces {
  readonly chainId: number | null
  readonly openService: (id: string, endpoint: string | null) => void
}

export function resultsOf(asked: SearchQuestion, found: SearchResult, places: ResultPlaces): Node[] {
  const { endpoints, resolution, zeroResultGuidance } = found
  if (endpoints.length === 0)
    return [element('p', { class: 'empty' }, zeroResultGuidance ?? 'Nothing was found.')]
  const count = endpoints.length === 1 ? '1 endpoint' : `${endpoints.length} endpoints`
  const what = asked.query === '' ? `${count} of the catalog` : `${count} for “${asked.query}”`
  const how = resolution === 'live' ? ', sellers were asked' : ', as the catalog lists them'
  return [
    element('p', { class: 'headline', id: 'found-summary' }, what + how),
    element(
      'ol',
      { class: 'found-list' },
      ...endpoints.map((endpoint) => resultOf(endpoint, asked.query !== '', places)),
    ),
  ]
}

/** A search without a question scores every result like a search for nothing. */
function resultOf(
  found: FoundEndpoint,
  isScored: boolean,
  { chainId, openService }: ResultPlaces,
): HTMLElement {
  const { serviceId, serviceName, method, path, estimatedPrice, reasons, requiredArguments } = found
  const { suggestedPlanNode, lastVerifiedAt } = found
  const node: PlanNode = suggestedPlanNode ?? {
    id: serviceId,
    serviceId,
    method,
    path,
    input: {},
    dependsOn: [],
  }
  return element(
    'li',
    { class: 'card found-endpoint' },
    element(
      'div',
      { class: 'found-head' },
      element('h2', {}, serviceName),
      element('span', { class: 'price' }, priceText(estimatedPrice)),
    ),
    element('p', { class: 'call' }, element('b', {}, method), ' ', path),
    isScored ? scoreOf(found) : null,
    element(
      'ul',
      { class: 'chips', 'aria-label': 'Reasons' },
      ...reasons.map((reason) => element('li', {}, reason.replaceAll('_', ' '))),
    ),
    requiredArguments.length === 0
      ? null
      : element('p', { class: 'needs' }, 'Needs ', element('code', {}, requiredArguments.join(', '))),
    element(
      'div',
      { class: 'row' },
      badge(verifiedText(lastVerifiedAt), lastVerifiedAt === undefined ? 'busy' : 'good'),
      button('Read', () => openService(serviceId, `${method} ${path}`), {
        'aria-label': `Read ${serviceName}`,
      }),
      planLink(node, chainId),
    ),
  )
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

function scoreOf({ score, scoreDetails: { relevance, price } }: FoundEndpoint): HTMLElement {
  return element(
    'p',
    { class: 'score' },
    element('meter', { min: 0, max: 1, value: score, 'aria-label': 'Score' }),
    `score ${percent(score)}: relevance ${percent(relevance)}, price ${percent(price)}`,
  )
}

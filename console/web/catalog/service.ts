/** One service as it is described: its endpoints, what they cost, how they are. */
import {
  type Description,
  type EndpointHealth,
  offerText,
  type Service,
  type ServiceEndpoint,
} from '../../model/services.ts'
import { element } from '../element.ts'
import { card } from '../parts/card.ts'
import { driftOf, healthBadge, historyOf } from './health.ts'
import { planLink } from './parts.ts'

/** `opened` is the endpoint that is unfolded, `METHOD path`; null for the only one. */
export function serviceOf(
  { service, looksLike, health }: Description,
  opened: string | null,
  chainId: number | null,
): Node[] {
  const { endpoints } = service
  const healthOf = ({ method, path }: ServiceEndpoint) =>
    health.find((found) => found.method === method && found.path === path)
  const isOpen = ({ method, path }: ServiceEndpoint) =>
    endpoints.length === 1 || `${method} ${path}` === opened
  return [
    headOf(service, looksLike),
    card(
      endpoints.length === 1 ? '1 endpoint' : `${endpoints.length} endpoints`,
      ...endpoints.map((endpoint) =>
        endpointOf({ service, endpoint, health: healthOf(endpoint), chainId }, isOpen(endpoint)),
      ),
    ),
  ]
}

function headOf(service: Service, looksLike: string | undefined): HTMLElement {
  const { name, description, id, provider, realm, serviceUrl, categories, tags, docs, sourceRefs } = service
  const sources = sourceRefs.map(({ sourceId, externalId }) => sourceId ?? externalId ?? '')
  return card(
    name,
    looksLike === undefined
      ? null
      : element(
          'p',
          { class: 'warning' },
          `Its name looks like that of ${looksLike}: make sure which is meant.`,
        ),
    element('p', { class: 'description' }, description),
    element(
      'dl',
      { class: 'lines' },
      ...line('Id', element('code', {}, id)),
      ...line('At', element('code', {}, serviceUrl)),
      ...line('Provider', outside(provider.url, provider.name)),
      ...line('Asks for money as', element('code', {}, realm)),
      ...line('Listed by', [...new Set(sources)].join(', ')),
      ...(categories.length + tags.length > 0 ? line('About', [...categories, ...tags].join(', ')) : []),
      ...(Object.keys(docs).length > 0
        ? line('Documents', ...Object.entries(docs).flatMap(([kind, url]) => [outside(url, kind), ' ']))
        : []),
    ),
  )
}

const line = (name: string, ...value: readonly (Node | string)[]): HTMLElement[] => [
  element('dt', {}, name),
  element('dd', {}, ...value),
]

/** The catalog's URLs are of strangers: only what leads to a page is a link. */
const outside = (url: string, text: string): Node =>
  /^https?:\/\//.test(url)
    ? element('a', { href: url, rel: 'noopener noreferrer nofollow', target: '_blank' }, text)
    : element('span', {}, text)

interface Shown {
  readonly service: Service
  readonly endpoint: ServiceEndpoint
  readonly health: EndpointHealth | undefined
  readonly chainId: number | null
}

function endpointOf(shown: Shown, isOpen: boolean): HTMLElement {
  const { method, path, paymentOffers } = shown.endpoint
  const price = paymentOffers[0] ? offerText(paymentOffers[0]) : 'free'
  const made = element(
    'details',
    { class: 'endpoint' },
    element(
      'summary',
      {},
      element('span', { class: 'call' }, element('b', {}, method), ' ', path),
      element('span', { class: 'price' }, price),
      healthBadge(shown.health),
    ),
  )
  // A service may have two thousand endpoints: each is drawn when somebody looks at it.
  const fill = () => {
    if (made.childElementCount === 1) made.append(insideOf(shown))
  }
  made.addEventListener('toggle', fill)
  if (isOpen) {
    fill()
    made.open = true
  }
  return made
}

function insideOf({ service: { id: serviceId }, endpoint, health, chainId }: Shown): HTMLElement {
  const { method, path, description, aliases, capabilities, examples } = endpoint
  const { requestFormat, inputSchema, inputExample, paymentOffers } = endpoint
  const node = { id: serviceId, serviceId, method, path, input: inputExample ?? {}, dependsOn: [] }
  return element(
    'div',
    { class: 'inside' },
    element('p', {}, description),
    ...driftOf(health),
    element(
      'dl',
      { class: 'lines' },
      ...(aliases.length > 0 ? line('Also called', aliases.join(', ')) : []),
      ...(capabilities.length > 0 ? line('Does', capabilities.join(', ')) : []),
      ...(examples.length > 0 ? line('Asked as', examples.map((text) => `“${text}”`).join(', ')) : []),
      ...line('Input', requestFormat === 'json' ? 'a JSON body' : 'in the query'),
      ...(paymentOffers.length > 0
        ? line(
            'Paid by',
            ...paymentOffers.map((offer) => element('span', { class: 'offer' }, offerLine(offer))),
          )
        : []),
    ),
    ...(inputExample === undefined ? [] : [element('h3', {}, 'An input that works'), jsonOf(inputExample)]),
    ...(inputSchema === undefined ? [] : [element('h3', {}, 'Schema of the input'), jsonOf(inputSchema)]),
    element('div', { class: 'row' }, planLink(node, chainId)),
    health?.lastProbedAt === undefined ? null : historyOf(serviceId, endpoint),
  )
}

const offerLine = (offer: ServiceEndpoint['paymentOffers'][number]): string =>
  [offerText(offer), offer.protocol, offer.method, offer.intent, offer.network].filter(Boolean).join(' · ')

const jsonOf = (value: unknown): HTMLElement =>
  element('pre', { tabindex: 0 }, JSON.stringify(value, null, 2))

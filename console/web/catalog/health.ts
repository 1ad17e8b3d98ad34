/** How an endpoint is: in a word, where its seller and the catalog differ, and its last probes. */
import { type EndpointHealth, readHealth, type ServiceEndpoint } from '../../model/services.ts'
import { origin } from '../api.ts'
import { button, element } from '../element.ts'
import { badge, type Tone } from '../parts/badge.ts'
import { table } from '../table.ts'
import { spokenTime, verifiedText } from './parts.ts'

const tones: Readonly<Record<EndpointHealth['state'], Tone>> = {
  unknown: 'busy',
  verified: 'good',
  answering: 'good',
  failing: 'bad',
  delisted: 'bad',
  unprobed: 'busy',
}

export function healthBadge(health: EndpointHealth | undefined): HTMLElement {
  const state = health?.state ?? 'unknown'
  return badge(wordsOf(state, health), tones[state])
}

function wordsOf(state: EndpointHealth['state'], health: EndpointHealth | undefined): string {
  switch (state) {
    case 'verified':
      return verifiedText(health?.lastVerifiedAt)
    case 'answering':
      return 'answers'
    case 'failing':
      return health?.failures === 1 ? 'failed once' : `failed ${health?.failures} times`
    case 'delisted':
      return 'delisted: does not answer'
    case 'unprobed':
      return 'not probed'
    case 'unknown':
      return 'not probed yet'
  }
}

/** A warning for each thing that the seller asks otherwise than the catalog lists. */
export const driftOf = (health: EndpointHealth | undefined): HTMLElement[] =>
  Object.entries(health?.drift ?? {}).map(([what, { listed, live }]) =>
    element('p', { class: 'warning' }, `Another ${what} than listed: ${live} instead of ${listed}.`),
  )

/** The last probes, when somebody asks for them. */
export function historyOf(serviceId: string, endpoint: ServiceEndpoint): HTMLElement {
  const place = element('div', {})
  const show = async () => {
    const signal = new AbortController().signal
    const health = await readHealth(origin, serviceId, endpoint, signal).catch(() => null)
    const probes = health?.history ?? []
    place.replaceChildren(
      probes.length === 0
        ? element('p', { class: 'needs' }, 'No probe is known.')
        : table(
            ['Probed', 'Found', 'Took'],
            probes.map(({ at, outcome, status, problem, durationMs }) => [
              spokenTime(at),
              [outcome, status, problem].filter((part) => part !== undefined).join(', '),
              `${durationMs} ms`,
            ]),
          ),
    )
  }
  place.append(button('Last probes', () => void show(), { class: 'quiet' }))
  return place
}

/** How an endpoint is: in a word, where its seller and the catalog differ, and its last probes. */
import { counted } from '#text/quantity.ts'
import { type EndpointHealth, healthWords, readHealth, type ServiceEndpoint } from '../../model/services.ts'
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
  suspended: 'bad',
}

export function healthBadge(health: EndpointHealth | undefined): HTMLElement {
  const state = health?.state ?? 'unknown'
  return badge(wordsOf(state, health), tones[state])
}

function wordsOf(state: EndpointHealth['state'], health: EndpointHealth | undefined): string {
  const word = healthWords[state]
  if (state === 'verified') return verifiedText(health?.lastVerifiedAt)
  if (state === 'delisted') return `${word}: does not answer`
  if (state === 'suspended') return `${word}: paid and not delivered`
  if (state !== 'failing') return word
  return `${word}: ${counted(health?.failures ?? 1, 'time')}`
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

/** Requests of an organization's keys: a number, thirty days as bars, keys and routes. */
import type { Key, Usage } from '../../model/AccountClient.ts'
import { element, svg } from '../element.ts'
import { card } from '../parts/card.ts'
import { table } from '../table.ts'
import type { OrgContext } from './context.ts'

const ROUTES_SHOWN = 10
const BARS_HEIGHT = 60

export async function usageView({ client, org }: OrgContext, keys: readonly Key[]): Promise<HTMLElement> {
  const usage = await client.ask<Usage>('GET', `v1/orgs/${org.id}/usage/requests`)
  const nameOf = (id: string) => keys.find((key) => key.id === id)?.name ?? id
  const { requests, errors, averageDurationMs } = usage.totals
  return card(
    'Usage',
    element(
      'p',
      { class: 'meaning', id: 'usage' },
      requests === 0
        ? 'No requests in 30 days.'
        : `${counted(requests, 'request')} in 30 days, ${counted(errors, 'error')}, ${averageDurationMs.toFixed(1)} ms on average`,
    ),
    ...(requests === 0
      ? []
      : [
          bars(usage),
          sums(
            'Key',
            usage.byKey.map(({ apiKeyId, ...of }) => ({ name: nameOf(apiKeyId), ...of })),
          ),
          sums(
            'Route',
            usage.byRoute.slice(0, ROUTES_SHOWN).map(({ route, ...of }) => ({ name: route, ...of })),
          ),
        ]),
  )
}

const count = (value: number): string => value.toLocaleString('en-US')

const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

const sums = (
  title: string,
  rows: readonly {
    readonly name: string
    readonly requests: number
    readonly errors: number
    readonly averageDurationMs: number
  }[],
): HTMLElement =>
  table(
    [title, 'Requests', 'Errors', 'Average ms'],
    rows.map(({ name, requests, errors, averageDurationMs }) => [
      name,
      count(requests),
      count(errors),
      averageDurationMs.toFixed(1),
    ]),
  )

/** One bar a day; a browser tells its numbers on hovering. */
function bars({ series }: Usage): SVGElement {
  const most = Math.max(1, ...series.map(({ requests }) => requests))
  const width = series.length * 10
  const drawn = series.map(({ time, requests }, index) => {
    const height = (requests / most) * BARS_HEIGHT
    const title = svg('title', {}, `${time.slice(0, 10)}: ${count(requests)}`)
    return svg('rect', { x: index * 10 + 1, y: BARS_HEIGHT - height, width: 8, height }, title)
  })
  const attributes = { class: 'bars', viewBox: `0 0 ${width} ${BARS_HEIGHT}`, preserveAspectRatio: 'none' }
  return svg('svg', { ...attributes, role: 'img', 'aria-label': 'Requests a day' }, ...drawn)
}

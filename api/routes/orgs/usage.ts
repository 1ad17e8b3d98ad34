/** /v1/orgs/{orgId}/usage/requests: what the keys of an organization asked. */

import { endpoint, notValid } from '#http/endpoint.ts'
import { management } from '#http/request/access.ts'
import { rangeInvalid } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { readUsage, type Usage, type UsageSums } from '#rows/access/usage.ts'
import { type AccountServices, assertRole, orgErrors, orgId, projectIn } from './accounts.ts'
import { iso } from './shapes.ts'

/** Points of a series: a year of days, six weeks of hours. */
const POINTS_MAX = 1_000
const stepsMs = { day: 24 * 60 * 60 * 1_000, hour: 60 * 60 * 1_000 } as const
/** Points where the request names no begin. */
const pointsDefault = { day: 30, hour: 24 } as const

const sums = {
  requests: s.count,
  errors: s.integer({ minimum: 0, description: 'Answered with a status from 400 on.' }),
  averageDurationMs: s.number({ minimum: 0, description: 'Of a live stream the time until it began.' }),
}

export const readUsageEndpoint = endpoint({
  path: '/v1/orgs/{orgId}/usage/requests',
  summary: 'Requests of an organization’s keys: in all, over time, by key, route and status.',
  description:
    'Counted are requests that quotas count, some seconds after they were answered. `from` and `to` are cut to whole intervals, in UTC; at most 1,000 of them.',
  params: { orgId },
  filters: {
    from: p.described(p.timestamp, 'First moment, inclusive. Default: 30 days or 24 hours before `to`.'),
    to: p.described(p.timestamp, 'Last moment, exclusive. Default: the end of the present interval.'),
    interval: p.withDefault(p.described(p.oneOf('day', 'hour'), 'Width of a point of the series.'), 'day'),
    projectId: p.described(p.text(64), 'Keys of this project alone.'),
    environment: p.described(p.oneOf('production', 'sandbox'), 'Keys of this environment alone.'),
  },
  chain: 'none',
  access: management,
  errors: [...orgErrors, 'project_not_found', 'range_invalid'],
  response: s.object({
    from: s.timestamp,
    to: s.timestamp,
    interval: s.oneOf(['day', 'hour']),
    totals: s.named('UsageTotals', sums),
    series: s.array(s.object({ time: s.timestamp, requests: s.count, errors: s.count })),
    byKey: s.array(s.object({ apiKeyId: s.text(), ...sums })),
    byRoute: s.array(s.object({ route: s.text(), ...sums })),
    byStatus: s.array(s.object({ status: s.integer(), requests: s.count })),
  }),
  read: async (call, { accounts }: AccountServices) => {
    await assertRole(accounts, call, 'member')
    const { interval, projectId, environment } = call.filters
    if (projectId !== undefined) await projectIn(accounts, call.path.orgId, projectId)
    const span = spanOf(call.filters, accounts.clock.now())
    const question = { orgId: call.path.orgId, projectId, environment, interval, ...span }
    return { ...span, interval, usage: await readUsage(accounts.app, question) }
  },
  present: ({ from, to, interval, usage }) => ({
    from: iso(from),
    to: iso(to),
    interval,
    totals: present(usage.totals),
    series: seriesOf(usage, from.getTime(), to.getTime(), stepsMs[interval]),
    byKey: ranked(usage.byKey).map(([apiKeyId, of]) => ({ apiKeyId, ...present(of) })),
    byRoute: ranked(usage.byRoute).map(([route, of]) => ({ route, ...present(of) })),
    byStatus: ranked(usage.byStatus).map(([status, { requests }]) => ({ status, requests })),
  }),
  cache: 'none',
})

/** @throws ApiError range_invalid, query_invalid for too many intervals */
function spanOf(
  asked: {
    readonly from?: number | undefined
    readonly to?: number | undefined
    readonly interval: keyof typeof stepsMs
  },
  nowMs: number,
): { readonly from: Date; readonly to: Date } {
  const stepMs = stepsMs[asked.interval]
  const toMs = Math.ceil((asked.to ?? nowMs + 1) / stepMs) * stepMs
  const fromMs = Math.floor((asked.from ?? toMs - pointsDefault[asked.interval] * stepMs) / stepMs) * stepMs
  if (fromMs >= toMs) throw rangeInvalid('from', '`from` lies not before `to`')
  if ((toMs - fromMs) / stepMs > POINTS_MAX) throw notValid('from', `more than ${POINTS_MAX} intervals`)
  return { from: new Date(fromMs), to: new Date(toMs) }
}

const present = ({ requests, errors, durationMs }: UsageSums) => ({
  requests,
  errors,
  averageDurationMs: requests === 0 ? 0 : Math.round((durationMs / requests) * 1_000) / 1_000,
})

function seriesOf({ byTime }: Usage, fromMs: number, toMs: number, stepMs: number) {
  return Array.from({ length: (toMs - fromMs) / stepMs }, (_, index) => {
    const ms = fromMs + index * stepMs
    const { requests = 0, errors = 0 } = byTime.get(ms) ?? {}
    return { time: iso(new Date(ms)), requests, errors }
  })
}

/** The most requests first. */
const ranked = <Name>(of: ReadonlyMap<Name, UsageSums>): (readonly [Name, UsageSums])[] =>
  [...of].sort(([, a], [, b]) => b.requests - a.requests)

/** /health, /ready and /metrics: what a supervisor, a load balancer and a scraper ask. */

import type { RawAnswer } from '#http/answer/answer.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { metrics, openToAll } from '#http/request/access.ts'
import { chainParameter } from '#http/request/chain.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import type { Clock } from '#runtime/runtime.ts'
import { registry } from '#telemetry.ts'
import type { StatusSource } from './status.ts'

export interface SystemServices {
  readonly status: StatusSource
  readonly clock: Clock
  /** Aborted when the program begins to stop: a balancer sends nothing new from then on. */
  readonly shutdown: AbortSignal
}

export const readHealthEndpoint = rawEndpoint({
  path: '/health',
  summary: 'Whether the program runs. Says nothing about data; see /ready.',
  description: '200 `{ok: true}`; 503 `{ok: false, reason}` while it is stopping.',
  tag: 'System',
  access: openToAll,
  produces: { 'application/json': s.object({ ok: s.boolean(), reason: s.optional(s.text()) }) },
  statuses: [200, 503],
  answer: (_call, { shutdown }: SystemServices) =>
    shutdown.aborted ? json(503, { ok: false, reason: 'the program is stopping' }) : json(200, { ok: true }),
})

/** Below the request deadline, so that the answer is ours. */
const WAIT_MS_MAX = 50_000

export const readReadyEndpoint = rawEndpoint({
  path: '/ready',
  summary: 'Whether the data is there: both stores hold what the chain had when the program started.',
  description:
    '200 `{ready: true}` or 503 `{ready: false, reason}`, also while a chain stands until a person acts. With `minBlock` it asks for that block alone, and waits up to 50 s for it.',
  tag: 'System',
  access: openToAll,
  filters: {
    minBlock: p.described(p.blockNumber, 'Wait until this block is readable.'),
    scope: p.withDefault(
      p.described(p.oneOf('all', 'head'), '`head` asks for the newest blocks only, not for history.'),
      'all',
    ),
    chainId: p.described(chainParameter, 'Chain of `minBlock`. Default: every chain.'),
  },
  produces: { 'application/json': s.object({ ready: s.boolean(), reason: s.optional(s.text()) }) },
  statuses: [200, 503],
  answer: async ({ filters, signal }, { status, clock, shutdown }: SystemServices) => {
    const { minBlock, scope, chainId } = filters
    if (shutdown.aborted) return json(503, { ready: false, reason: 'the program is stopping' })
    if (minBlock !== undefined) {
      const ending = AbortSignal.any([signal, shutdown])
      const seen = await inTime(clock, ending, (until) => status.waitForBlock(minBlock, chainId, until))
      return seen
        ? json(200, { ready: true })
        : json(503, { ready: false, reason: `block ${minBlock} is not indexed yet` })
    }
    const { ready, reason } = await status.ready(scope)
    if (ready) return json(200, { ready })
    return json(503, { ready, reason: reason ?? 'the data held does not reach the head yet' })
  },
})

export const readMetricsEndpoint = rawEndpoint({
  path: '/metrics',
  summary: 'Metrics in the Prometheus text format.',
  description: 'Where access is guarded: for the machine itself, and for keys with the scope `*`.',
  tag: 'System',
  access: metrics,
  produces: { 'text/plain': null },
  answer: async (_call, _services: unknown) => ({
    kind: 'bytes',
    contentType: registry.contentType,
    body: await registry.metrics(),
  }),
})

const json = (status: number, value: object): RawAnswer => ({
  kind: 'bytes',
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})

/** Whether the wait ended well within its time. */
async function inTime(
  clock: Clock,
  signal: AbortSignal,
  wait: (until: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const done = new AbortController()
  const late = clock.sleep(WAIT_MS_MAX, AbortSignal.any([signal, done.signal])).then(
    () => false,
    () => false,
  )
  const waiting = wait(AbortSignal.any([signal, done.signal])).then(() => true)
  try {
    return await Promise.race([waiting, late])
  } finally {
    waiting.catch(() => {})
    done.abort()
  }
}

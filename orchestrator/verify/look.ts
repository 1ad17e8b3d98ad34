/**
 * One unpaid call of an endpoint with its declared example, to see whether its seller is there and
 * what it asks for. It has no effect: `probeOf` decides what may be called.
 */
import type { Egress, EgressAnswer, EgressPurpose, EgressRequest } from '#egress/Egress.ts'
import { EgressFailedError } from '#egress/errors.ts'
import { isRecord } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type LiveOffer, liveOffers } from '#wallet/liveOffers.ts'
import {
  matchPath,
  PathError,
  parametersOf,
  parsePath,
  parseTemplate,
  urlOf,
} from '../catalog/pathTemplate.ts'
import { silenceOf } from '../quote/livePrice.ts'
import { probeOf } from '../quote/probe.ts'
import { type Drift, driftOf, type LookTarget } from './drift.ts'

/**
 * `verified`: answers as it is listed. `answered`: is there, but asked for no price that can be
 * read; many sellers check the input first. `unpaid`: is listed with a price, and asked for none.
 */
export type LookOutcome = 'verified' | 'answered' | 'unpaid' | 'failed'

/** One look's findings. */
export interface Sight {
  readonly outcome: LookOutcome
  /** Null where there was no answer. */
  readonly status: number | null
  /** The problem; null for none. */
  readonly problem: string | null
  readonly durationMs: number
  readonly offers: readonly LiveOffer[]
  /** Undefined where nothing was seen of it. */
  readonly drift: Drift | null | undefined
}

export interface LookOptions {
  readonly egress: Pick<Egress, 'fetch'>
  readonly clock: Clock
  readonly purpose: EgressPurpose
}

/** The call, or null where none is known that has no effect. */
function lookRequest(target: LookTarget): Omit<EgressRequest, 'signal' | 'purpose'> | null {
  const { service, endpoint } = target
  const url = exampleUrl(target)
  const { inputExample: input = {} } = endpoint
  const node = { id: service.id, serviceId: service.id, method: endpoint.method, path: endpoint.path }
  // Without the concrete path a probe path may still be called.
  const probe = probeOf({
    node: { ...node, input, dependsOn: [] },
    service,
    endpoint: url ? endpoint : { ...endpoint, method: 'POST', paymentOffers: [] },
    url: url ?? new URL(service.serviceUrl),
    takesOutputs: false,
  })
  if (!probe) return null
  const { purpose: _, ...request } = probe.request
  return { ...request, cuts: true }
}

/** The path with its parameters as the example fills them; null where something is missing. */
function exampleUrl({ service, endpoint }: LookTarget): URL | null {
  const template = parseTemplate(endpoint.path)
  const { inputExample, execution } = endpoint
  const example = isRecord(inputExample) ? inputExample : {}
  const filled = template.parts.map((part) => {
    const value = part.kind === 'static' ? part.text : example[part.name]
    return typeof value === 'string' || typeof value === 'number' ? encodeURIComponent(`${value}`) : ''
  })
  const own = `/${filled.join('/')}`
  const isWhole = parametersOf(template).length === 0 || filled.every((segment) => segment !== '')
  const path = isWhole ? own : execution?.probePath
  if (path === undefined) return null
  try {
    const segments = parsePath(path)
    return matchPath(segments, [{ template }]) ? urlOf(service.serviceUrl, segments) : null
  } catch (error) {
    if (error instanceof PathError) return null
    throw error
  }
}

/** Null where nothing may be called; `busy` where too much else is being called now. */
export async function look(
  target: LookTarget,
  { egress, clock, purpose }: LookOptions,
  signal: AbortSignal,
): Promise<Sight | 'busy' | null> {
  const request = lookRequest(target)
  if (!request) return null
  const startedMs = clock.monotonic()
  const seen = { status: null, offers: [], drift: undefined }
  try {
    const answer = await egress.fetch({ ...request, purpose, signal })
    const durationMs = clock.monotonic() - startedMs
    return { ...seen, durationMs, ...(await sightOf(target, answer, clock.now())) }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof EgressFailedError && cause.reason === 'busy') return 'busy'
    const problem = silenceOf(cause).message
    return { ...seen, outcome: 'failed', problem, durationMs: clock.monotonic() - startedMs }
  }
}

/** Statuses that say that there is no such endpoint. */
const goneStatuses = [404, 405, 410, 501]

async function sightOf(
  target: LookTarget,
  answer: EgressAnswer,
  nowMs: number,
): Promise<Pick<Sight, 'outcome' | 'status' | 'problem' | 'offers'> & Partial<Pick<Sight, 'drift'>>> {
  const { status } = answer
  const isPaid = target.endpoint.paymentOffers.length > 0
  if (status === 402) {
    const offers = await liveOffers(answer, nowMs)
    if (offers.length === 0)
      return { outcome: 'answered', status, offers, problem: 'asks for money in no way that can be read' }
    return { outcome: 'verified', status, offers, problem: null, drift: driftOf(target, offers) }
  }
  const told = { status, offers: [], problem: `answered ${status}` }
  if (status < 200 || status >= 500 || goneStatuses.includes(status)) return { ...told, outcome: 'failed' }
  if (status >= 300) return { ...told, outcome: isPaid && status < 400 ? 'failed' : 'answered' }
  if (!isPaid) return { ...told, outcome: 'verified', problem: null, drift: null }
  return { ...told, outcome: 'unpaid', problem: `answered ${status} without asking for money` }
}

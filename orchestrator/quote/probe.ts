/**
 * The unpaid call that a price is asked with. It has no effect: a seller asks for money before it
 * does anything, and an endpoint that asks for none is only ever read from.
 */
import type { EgressRequest } from '#egress/Egress.ts'
import { isRecord } from '#primitives.ts'
import { PathError, parsePath, urlOf } from '../catalog/pathTemplate.ts'
import type { PlannedNode } from '../plan/checkPlan.ts'
import { parseReference } from '../plan/reference.ts'
import { readOf, sellerCallOf } from '../plan/sellerCallOf.ts'

/** A 402 and its challenges are a few kilobytes. */
const ANSWER_BYTES_MAX = 64 * 1_024

export interface Probe {
  readonly request: Omit<EgressRequest, 'signal'>
  /** Input it is sent with: the plan's own, or an example where that is not known yet. */
  readonly input: 'plan' | 'example'
  /** The catalog lists no price. */
  readonly isFree: boolean
}

/** Null where a call could have an effect, so nobody is asked. */
export function probeOf(planned: PlannedNode): Probe | null {
  const { node, endpoint, takesOutputs } = planned
  const example = endpoint.inputExample ?? withoutReferences(node.input)
  const body = takesOutputs ? example : node.input
  const input = takesOutputs ? 'example' : 'plan'
  if (endpoint.paymentOffers.length > 0)
    return { request: { ...sellerCallOf(planned, body), ...common }, input, isFree: false }
  if (endpoint.method === 'GET')
    return { request: { ...sellerCallOf(planned, body), ...common }, input, isFree: true }
  const url = probeUrl(planned)
  return url && { request: { ...readOf(url), ...common }, input, isFree: true }
}

const common = { purpose: 'quote', bytesMax: ANSWER_BYTES_MAX } as const

function probeUrl({ service, endpoint }: PlannedNode): URL | null {
  const path = endpoint.execution?.probePath
  if (path === undefined) return null
  try {
    return urlOf(service.serviceUrl, parsePath(path))
  } catch (error) {
    if (error instanceof PathError) return null
    throw error
  }
}

/** The input without what other nodes will give. */
function withoutReferences(input: unknown): unknown {
  if (Array.isArray(input)) return input.filter((item) => !isReference(item)).map(withoutReferences)
  if (!isRecord(input)) return isReference(input) ? {} : input
  if (isReference(input)) return {}
  const kept = Object.entries(input).filter(([, member]) => !isReference(member))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutReferences(member)]))
}

const isReference = (value: unknown): boolean =>
  typeof value === 'string'
    ? parseReference(value) !== null
    : isRecord(value) && (Object.hasOwn(value, '$map') || Object.hasOwn(value, '$concat'))

/** One 402 of all methods: their headers beside each other. */
import type { Challenged } from '#http/request/access.ts'
import type { Challenge } from './methods/PaymentMethod.ts'

/** Proxies cut off headers beyond it. */
const HEADERS_MAX_BYTES = 8_000

/**
 * Headers of one name are joined in the order of the methods; the body is the first one's. What does
 * not fit is left out, the last first. Null where nothing is offered.
 * @param problem in the place of the body
 */
export function challengeOf(
  challenges: readonly Challenge[],
  problem?: Readonly<Record<string, unknown>> | null,
): Challenged | null {
  const [first] = challenges
  if (!first) return null
  const headers: Record<string, string[]> = {}
  let bytes = 0
  for (const each of challenges)
    for (const [name, given] of Object.entries(each.headers))
      for (const value of [given].flat()) {
        bytes += name.length + value.length
        if (bytes > HEADERS_MAX_BYTES) continue
        headers[name] = [...(headers[name] ?? []), value]
      }
  const { contentType, body } = first
  // A payment that is gone is not paid for again: its payer begins anew.
  const status = problem?.['status'] === 410 ? 410 : 402
  return { kind: 'challenged', status, headers, contentType, body: problem ? JSON.stringify(problem) : body }
}

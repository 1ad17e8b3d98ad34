/** POST /v1/jobs for a wallet of the browser: what is asked for it, and its job. */
import { orderBody } from '../../job/commands.ts'
import type { Credential } from '../../job/credentials.ts'
import { jobIdIn } from '../../job/job.ts'
import { offersIn, type PayableOffer } from '../../job/offers.ts'
import { keyHeaders } from '../../model/apiKey.ts'
import { requireAnswer } from '../../model/indexerClient.ts'
import { isObject, parseFailure } from '../../model/queryAnswer.ts'
import { origin } from '../api.ts'

export interface PlacedOrder {
  /** JSON as it was quoted. */
  readonly plan: string
  readonly key: string
  readonly maxSpend: string
}

export type OrderAnswer =
  | { readonly kind: 'ordered'; readonly jobId: string }
  /** `reason`: why a payment was not taken. */
  | { readonly kind: 'asked'; readonly offers: readonly PayableOffer[]; readonly reason: string }

/** @throws RequestFailure, or the signal's reason */
export async function orderJob(
  { plan, key, maxSpend }: PlacedOrder,
  payment: Credential | null,
  signal: AbortSignal,
): Promise<OrderAnswer> {
  const headers = {
    ...{ 'content-type': 'application/json', 'idempotency-key': key, ...keyHeaders() },
    ...(payment && Object.fromEntries([payment])),
  }
  const body = orderBody(plan, maxSpend, key)
  const response = await requireAnswer(signal, () =>
    fetch(new URL('v1/jobs', origin), { method: 'POST', headers, body, signal }),
  )
  const answer: unknown = await response.json().catch(() => null)
  const told = isObject(answer) ? answer : {}
  if (response.status === 402) {
    const reason = String(told['detail'] ?? told['error'] ?? '')
    return { kind: 'asked', offers: offersIn(response.headers), reason }
  }
  const jobId = jobIdIn(String(told['jobId']))
  if (!response.ok || jobId === null) throw parseFailure(answer, response.status)
  return { kind: 'ordered', jobId }
}

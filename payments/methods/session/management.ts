/**
 * A payer's requests to its channel, not for a read: to open it, to put more in, to close it, or to be told
 * what it has signed for. The challenge that comes with it names the price; nothing is sold.
 */
import { Credential, Errors } from 'mppx'
import { messageOf } from '#errors.ts'
import { ApiError } from '#http/errors.ts'
import type { Ask } from '#money/node.ts'
import { isRecord } from '#primitives.ts'
import { type SendOutcome, sendCounted } from '../../chain/sendCounted.ts'
import { bySeller, challengeIn, mppCredentialIn, mppPaymentIn, serializeReceipt, unsent } from '../mpp.ts'
import type { Challenge, Managed, ManagingRequest } from '../PaymentMethod.ts'
import type { SessionSeller } from './sessionSeller.ts'
import { voucherIn } from './voucherIn.ts'

/** Makes another challenge like the credential's own. */
type Renew = (credential: Credential.Credential) => Promise<Challenge | null>

/** Null where the request is none of these. @throws ApiError for two payments */
export function managementIn(request: ManagingRequest): string | null {
  const presented = mppPaymentIn(request.headers)
  if (!presented || presented.method === null) return null
  const { credential, method } = presented
  if (method === 'tempo/charge') return request.method === 'HEAD' && isProof(credential) ? credential : null
  if (method !== 'tempo/session') return null
  const action = voucherIn(mppCredentialIn(credential))?.action
  if (action === 'topUp' || action === 'close') return credential
  const sellsNothing =
    request.method === 'HEAD' || (request.method === 'POST' && !request.hasBody && !request.url.includes('?'))
  return sellsNothing ? credential : null
}

/** A charge of nothing proves who sends it. */
function isProof(text: string): boolean {
  const { amount } = Credential.deserialize(text).challenge.request
  return amount === '0'
}

export interface ManageOptions {
  readonly sellers: readonly SessionSeller[]
  /** Each node of the chain by itself. */
  readonly nodes: readonly Ask[]
  readonly renew: Renew
}

/** Does it. @throws ApiError settlement_pending where it may be on its way to the chain */
export async function manage(text: string, { sellers, nodes, renew }: ManageOptions): Promise<Managed> {
  const credential = mppCredentialIn(text)
  const sent = await sendCounted({ nodes }, () =>
    bySeller(sellers, (seller) => seller.broadcastCredential(credential)),
  )
  if (sent.kind === 'sent')
    return { kind: 'managed', headers: { 'payment-receipt': serializeReceipt(sent.result) } }
  if (mayArrive(sent)) throw new ApiError('settlement_pending', undefined, { headers: again })
  const problem = unsent(sent.cause).problem ?? new Errors.VerificationFailedError({}).toProblemDetails()
  const challenge = await renew(credential).catch(() => null)
  return { kind: 'refused', challenge, problem: { ...problem } }
}

/** Whether what was asked of a channel may happen still: the library has not said that it did not. */
export const mayArrive = ({ kind, cause }: Exclude<SendOutcome<unknown>, { kind: 'sent' }>): boolean =>
  kind === 'unsure' && !(cause instanceof Errors.PaymentError)

/** A block comes sooner. */
const again = { 'retry-after': '5' }

/** The library's answer to HEAD: a charge of nothing, or after its proof the payer's channel. */
export async function bootstrap(
  seller: SessionSeller,
  terms: Parameters<SessionSeller['tempo']['session']>[0],
  { url, authorization }: { readonly url: URL; readonly authorization: string | undefined },
): Promise<Managed> {
  const headers = authorization === undefined ? {} : { authorization }
  const answered = await seller.tempo.session(terms)(new Request(url, { method: 'HEAD', headers }))
  if (answered.status !== 402) {
    const told = answered.withReceipt(new Response(null)).headers
    const shown = ['payment-session', 'payment-session-snapshot', 'payment-receipt']
    return {
      kind: 'managed',
      headers: Object.fromEntries(
        shown.flatMap((name) => {
          const value = told.get(name)
          return value === null ? [] : [[name, value]]
        }),
      ),
    }
  }
  const challenge = await challengeIn(answered)
  return { kind: 'refused', challenge, problem: problemIn(challenge.body) }
}

function problemIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(body)
    if (isRecord(parsed)) return parsed
  } catch (error) {
    if (body !== '') throw new TypeError(`a problem of the library is no JSON: ${messageOf(error)}`)
  }
  return { ...new Errors.PaymentRequiredError({}).toProblemDetails() }
}

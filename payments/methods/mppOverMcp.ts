/**
 * The Payment scheme over MCP (draft-payment-transport-mcp): what HTTP has in headers stands as JSON
 * in `_meta` of requests and results, and in `data` of errors.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Challenge, Credential, Mcp, Receipt } from 'mppx'
import type { Challenged } from '#http/request/access.ts'
import { isRecord } from '#primitives.ts'
import { jsonIn } from '#text/jsonIn.ts'
import { mppPaymentIn } from './mpp.ts'

type Meta = Readonly<Record<string, unknown>>

/** The member of `_meta` that a payment stands in. */
export const CREDENTIAL = Mcp.credentialMetaKey

/** A payment, or a proof of an account, is asked for. */
export const PAYMENT_REQUIRED = Mcp.paymentRequiredCode

/** A payment was given and is refused. */
export const VERIFICATION_FAILED = Mcp.paymentVerificationFailedCode

/** A demand for payment: challenges in the order in which they are offered. */
export interface PaymentRequired {
  readonly httpStatus: 402 | 410
  readonly challenges: readonly object[]
  /** RFC 9457: why what was given was refused. */
  readonly problem?: object
}

/**
 * Headers of a request, with the credential of its `_meta` beside what they have; null for one that
 * cannot be read.
 */
export function withCredential(headers: IncomingHttpHeaders, meta: Meta): IncomingHttpHeaders | null {
  const given = meta[CREDENTIAL]
  if (given === undefined) return headers
  const text = textOf(given)
  if (text === null) return null
  const { authorization } = headers
  return { ...headers, authorization: authorization === undefined ? text : `${authorization}, ${text}` }
}

/** As it stands in Authorization; null for none. */
function textOf(given: unknown): string | null {
  if (!isRecord(given) || !isRecord(given['challenge']) || !('payload' in given)) return null
  try {
    // The library writes what it is given; what it reads again is a credential.
    const text = Reflect.apply(Credential.serialize, undefined, [given])
    Credential.deserialize(text)
    return text
  } catch {
    return null
  }
}

export function paymentRequired({ status = 402, headers, body }: Challenged): PaymentRequired {
  const offered = [headers['www-authenticate'] ?? []].flat()
  const problem = problemIn(body)
  return {
    httpStatus: status,
    challenges: offered.flatMap((value) => Challenge.deserializeList(value)),
    ...(problem && { problem }),
  }
}

export const requiredMeta = (required: PaymentRequired): Meta => ({ [Mcp.paymentRequiredMetaKey]: required })

/** Whether a request has a payment, by whatever protocol. */
export const isPaying = (headers: IncomingHttpHeaders): boolean =>
  mppPaymentIn(headers) !== null || headers['payment-signature'] !== undefined

/**
 * The receipt in the headers of an answer; null for none.
 * @param request headers of the request that was paid for
 */
export function receiptIn(
  headers: Readonly<Record<string, string>>,
  request: IncomingHttpHeaders,
): object | null {
  const receipt = headers['payment-receipt']
  const presented = mppPaymentIn(request)
  if (receipt === undefined || !presented) return null
  const { id: challengeId } = Credential.deserialize(presented.credential).challenge
  return { ...Receipt.deserialize(receipt), challengeId }
}

export const receiptMeta = (receipt: object | null): Meta =>
  receipt === null ? {} : { [Mcp.receiptMetaKey]: receipt }

function problemIn(body: string): object | null {
  const value = jsonIn(body)
  // Any other text is for people.
  return isRecord(value) ? value : null
}

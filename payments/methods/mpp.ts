/** The common parts of the methods of the Payment scheme: their header, their credentials, their receipts. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Credential, Errors, PaymentRequest, type Receipt } from 'mppx'
import { ApiError } from '#http/errors.ts'
import { isRecord } from '#primitives.ts'
import { reasonOf } from '../chain/refusals.ts'
import type { SignedChallenge } from './ChallengeSigner.ts'
import {
  type Challenge,
  type Identity,
  type PaymentProblem,
  PaymentRefusedError,
  type Unsent,
} from './PaymentMethod.ts'

export interface Presented {
  readonly credential: string
  /** `tempo/charge`; null where the text tells none. */
  readonly method: string | null
}

/** The payment in `Authorization`; null for none. @throws ApiError for two */
export function mppPaymentIn({ authorization }: IncomingHttpHeaders): Presented | null {
  const found = authorization?.match(/(?:^|,\s*)payment\s+[^\s,]+/gi) ?? []
  if (found.length > 1) throw new ApiError('request_invalid', 'A request carries one payment.')
  const credential = found[0]?.replace(/^,\s*/, '')
  if (credential === undefined) return null
  try {
    const { method, intent } = Credential.deserialize(credential).challenge
    return { credential, method: `${method}/${intent}` }
  } catch {
    return { credential, method: null }
  }
}

/** A credential's identity; null if it is no credential. */
export function mppIdentityOf(credential: string): Identity | null {
  try {
    return { identity: Credential.deserialize(credential).challenge.id, digest: textDigest(credential) }
  } catch {
    return null
  }
}

/** Data that its challenge is bound to by name; a check alone proves it. */
export function mppMetaIn(credential: string): Readonly<Record<string, string>> {
  try {
    return mppMetaOf(Credential.deserialize(credential))
  } catch {
    return {}
  }
}

/** @throws where what it says is bound cannot be read */
export function mppMetaOf({
  challenge: { opaque },
}: Credential.Credential): Readonly<Record<string, string>> {
  const meta: unknown = opaque === undefined ? {} : PaymentRequest.deserialize(opaque)
  return Object.fromEntries(
    Object.entries(isRecord(meta) ? meta : {}).map(([name, text]) => [name, String(text)]),
  )
}

/** @throws PaymentRefusedError */
export function mppCredentialIn(credential: string): Credential.Credential {
  try {
    return Credential.deserialize(credential)
  } catch (cause) {
    throw mppRefusal(new Errors.MalformedCredentialError({ reason: messageIn(cause) }))
  }
}

export const mppRefusal = (cause: unknown): PaymentRefusedError =>
  new PaymentRefusedError(cause, problemOf(cause))

/** A payment that was not spent. */
export const unsent = (cause: unknown): Unsent => ({ kind: 'unsent', problem: problemOf(cause) })

function problemOf(cause: unknown): PaymentProblem | null {
  if (cause instanceof Errors.PaymentError) return { ...cause.toProblemDetails() }
  const reason = reasonOf(cause)
  if (reason === null) return null
  const refused = new Errors.VerificationFailedError({
    reason: `the chain refuses the transaction: ${reason}`,
  })
  return { ...refused.toProblemDetails() }
}

/** By the seller that made the challenge; the first one's failure where none did. */
export async function bySeller<Seller, Result>(
  sellers: readonly Seller[],
  work: (seller: Seller) => Promise<Result>,
): Promise<Result> {
  let first: unknown
  for (const seller of sellers) {
    try {
      return await work(seller)
    } catch (error) {
      first ??= error
      if (!(error instanceof Errors.InvalidChallengeError)) throw error
    }
  }
  throw first
}

/** Each challenge by itself: together they are one header's value, parts of which have commas. */
function challengesIn(headers: Headers): readonly string[] {
  const joined = headers.get('www-authenticate') ?? ''
  return joined.split(/,\s*(?=Payment\s)/)
}

/**
 * One answer of several challenges, as the library's own: `compose` is not used for it, which makes and
 * reads a request and a response for each, at over four times the cost.
 * @param signed one at least
 */
export function challengeOfSigned(signed: readonly SignedChallenge[]): Challenge {
  const [first] = signed
  if (!first) throw new TypeError('a 402 has a challenge')
  return {
    headers: { 'www-authenticate': signed.map(({ text }) => text) },
    body: JSON.stringify({ ...first.problem, challengeId: first.id }),
    contentType: 'application/problem+json',
  }
}

/** The library's answer to a request without a payment. */
export async function challengeIn(
  answered: { readonly status: 402; readonly challenge: Response } | { readonly status: 200 },
): Promise<Challenge> {
  if (answered.status !== 402) throw new TypeError('a request without a payment is challenged')
  const { challenge } = answered
  return {
    headers: { 'www-authenticate': challengesIn(challenge.headers) },
    body: await challenge.text(),
    contentType: challenge.headers.get('content-type') ?? 'application/problem+json',
  }
}

/** As it leaves in Payment-Receipt. */
export const serializeReceipt = (receipt: Receipt.Receipt): string =>
  Buffer.from(JSON.stringify(receipt)).toString('base64url')

export const textDigest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Unix seconds, from which on its challenge is over. */
export const expiryOf = ({ challenge: { expires } }: Credential.Credential): number =>
  Math.floor(Date.parse(expires ?? '') / 1_000)

const messageIn = (cause: unknown): string => (cause instanceof Error ? cause.message : 'not a credential')

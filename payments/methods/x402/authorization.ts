/** A payer's signature: an EIP-3009 authorization in the envelope of x402, as `PAYMENT-SIGNATURE` has it. */
import { createHash } from 'node:crypto'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { parsePaymentPayload } from '@x402/core/schemas'
import type { PaymentPayload } from '@x402/core/types'
import { isRecord } from '#primitives.ts'
import { PaymentRefusedError } from '../PaymentMethod.ts'

export interface Authorization {
  readonly payload: PaymentPayload
  /** Lowercase address. */
  readonly payer: string
  readonly nonce: string
  readonly validBeforeSeconds: number
  /** SHA-256 of the signature, which is a bearer's credential until its nonce is used. */
  readonly digest: Uint8Array
  /** The payer's own name for the payment (extension `payment-identifier`); null for none. */
  readonly reference: string | null
}

export const PAYMENT_IDENTIFIER = 'payment-identifier'

/** Longer headers are no authorizations. */
const HEADER_CHARACTERS_MAX = 8_192
const addressText = /^0x[0-9a-fA-F]{40}$/
const nonceText = /^0x[0-9a-fA-F]{64}$/
const secondsText = /^[0-9]{1,12}$/
/** Smart accounts sign by more than the 65 bytes of a key. */
const signatureText = /^0x(?:[0-9a-fA-F]{2}){1,2048}$/
const referenceText = /^[A-Za-z0-9_-]{16,128}$/

/** @throws PaymentRefusedError */
export function authorizationIn(header: string): Authorization {
  const payload = payloadIn(header)
  const { signature, authorization } = payload.payload
  if (!isRecord(authorization)) throw authorizationRefusal('carries no EIP-3009 authorization')
  const { from, nonce, validBefore } = authorization
  if (!isText(from, addressText)) throw authorizationRefusal('names no payer')
  if (!isText(nonce, nonceText)) throw authorizationRefusal('has no nonce of 32 bytes')
  if (!isText(validBefore, secondsText)) throw authorizationRefusal('does not say when it ends')
  if (!isText(signature, signatureText)) throw authorizationRefusal('is not signed')
  return {
    payload,
    payer: from.toLowerCase(),
    nonce: nonce.toLowerCase(),
    validBeforeSeconds: Number(validBefore),
    digest: signatureDigest(signature),
    reference: referenceIn(payload),
  }
}

/** A signature's identity in rows. */
export const signatureDigest = (signature: string): Buffer =>
  createHash('sha256').update(signature.toLowerCase()).digest()

/** `problem` completes "the payment …". */
export const authorizationRefusal = (problem: string): PaymentRefusedError =>
  new PaymentRefusedError(new Error(`the payment ${problem}`), {
    type: 'https://paymentauth.org/problems/verification-failed',
    title: 'Verification Failed',
    status: 402,
    detail: `The payment ${problem}.`,
  })

function payloadIn(header: string): PaymentPayload {
  if (header.length > HEADER_CHARACTERS_MAX) throw authorizationRefusal('is too long')
  const parsed = parsePaymentPayload(decoded(header))
  if (!parsed.success || parsed.data.x402Version !== 2)
    throw authorizationRefusal('is none of x402 version 2')
  return decodePaymentSignatureHeader(header)
}

function decoded(header: string): unknown {
  try {
    return decodePaymentSignatureHeader(header)
  } catch {
    throw authorizationRefusal('is not base64 of JSON')
  }
}

function referenceIn({ extensions }: PaymentPayload): string | null {
  const extension: unknown = extensions?.[PAYMENT_IDENTIFIER]
  const info = isRecord(extension) ? extension['info'] : undefined
  const id = isRecord(info) ? info['id'] : undefined
  if (id === undefined || id === null) return null
  if (!isText(id, referenceText))
    throw authorizationRefusal('has an identifier that is not 16 to 128 of A-Z a-z 0-9 _ -')
  return id
}

const isText = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value)

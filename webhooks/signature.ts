/**
 * Signatures of what is posted, in both forms: `svc-signature`, and that of Standard Webhooks 1.0.0.
 * While a secret is being exchanged both secrets sign, and a receiver that knows either accepts.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The signed message: the bytes sent, never an object that would be written once more. */
export interface SignedDelivery {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

/** Bytes of a new secret; Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'
/** Seconds that clocks of sender and receiver may differ by. */
const TOLERANCE_SECONDS = 300

/** `whsec_` and the base64 of 32 random bytes. */
export const newSecret = (): string => `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

/** The key that Standard Webhooks signs with: what the secret's base64 says. */
export const standardKey = (secret: string): Uint8Array =>
  Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/** The three headers of Standard Webhooks. */
export function standardHeaders(
  { id, timestampSeconds, body }: SignedDelivery,
  keys: readonly Uint8Array[],
): Record<string, string> {
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestampSeconds}`,
    'webhook-signature': signatures.join(' '),
  }
}

/** All headers of a signature, by each of the secrets: the newest first. */
export function signatureHeaders(signed: SignedDelivery, secrets: readonly string[]): Record<string, string> {
  const digests = secrets.map((secret) => `v1=${serviceDigest(signed, secret)}`)
  return {
    'svc-signature': [`t=${signed.timestampSeconds}`, ...digests].join(','),
    ...standardHeaders(signed, secrets.map(standardKey)),
  }
}

/** The key is the text of the whole secret, with its prefix. */
const serviceDigest = ({ timestampSeconds, body }: Omit<SignedDelivery, 'id'>, secret: string): string =>
  createHmac('sha256', secret).update(`${timestampSeconds}.${body}`).digest('hex')

/** Whether a `svc-signature` header is that of this body, made within the tolerance. */
export function verifySignature(header: string, body: string, secret: string, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.split('=', 2))
  const textsOf = (name: string) => parts.filter(([key]) => key === name).map(([, value = '']) => value)
  const timestampSeconds = Number(textsOf('t')[0] ?? Number.NaN)
  if (!(Math.abs(nowSeconds - timestampSeconds) <= TOLERANCE_SECONDS)) return false
  const expected = Buffer.from(serviceDigest({ timestampSeconds, body }, secret))
  return textsOf('v1').some((given) => {
    const bytes = Buffer.from(given)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

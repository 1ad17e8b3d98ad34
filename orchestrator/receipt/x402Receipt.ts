/**
 * The receipt that clients of x402 know, beside ours: extension `offer-receipt`, version 1, as a JWS (EdDSA)
 * by the key that signs the receipt of the job, which `did:jwk` names.
 */
import { type KeyObject, sign, verify } from 'node:crypto'
import * as s from '#http/schema.ts'

export const x402PartSchema = s.named('X402Receipt', {
  'offer-receipt': s.object({
    info: s.object({
      receipt: s.object({
        format: s.literal('jws'),
        signature: s.text({ pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$', description: 'RFC 7515, compact.' }),
      }),
    }),
  }),
})

export type X402Part = s.Static<typeof x402PartSchema>

/** The signed payment. */
export interface X402Paid {
  readonly chainId: number
  readonly payer: string
  /** The URL that the payment bought at. */
  readonly resourceUrl: string
  readonly issuedAtSeconds: number
  readonly transactionHash: string | null
}

/** @param x of the key, in base64url */
export function x402PartOf(paid: X402Paid, x: string, secret: KeyObject): X402Part {
  const signed = `${encoded({ alg: 'EdDSA', kid: keyIdOf(x) })}.${encoded(payloadOf(paid))}`
  const signature = `${signed}.${sign(null, Buffer.from(signed), secret).toString('base64url')}`
  return { 'offer-receipt': { info: { receipt: { format: 'jws', signature } } } }
}

/** Whether the key signed it, of this payment. */
export function isX402PartOf(
  part: X402Part,
  { chainId, payer, transactionHash }: Omit<X402Paid, 'resourceUrl' | 'issuedAtSeconds'>,
  x: string,
  key: KeyObject,
): boolean {
  const { signature: compact } = part['offer-receipt'].info.receipt
  const [header = '', payload = '', signature = ''] = compact.split('.')
  const told = decoded(payload)
  const expected = { ...told, ...boundOf({ chainId, payer, transactionHash }) }
  return (
    header === encoded({ alg: 'EdDSA', kid: keyIdOf(x) }) &&
    JSON.stringify(told) === JSON.stringify(expected) &&
    verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))
  )
}

const boundOf = ({ chainId, payer, transactionHash }: Omit<X402Paid, 'resourceUrl' | 'issuedAtSeconds'>) => ({
  ...{ version: 1, network: `eip155:${chainId}`, payer },
  ...(transactionHash !== null && { transaction: transactionHash }),
})

const payloadOf = ({ resourceUrl, issuedAtSeconds: issuedAt, ...paid }: X402Paid) => ({
  ...boundOf(paid),
  ...{ resourceUrl, issuedAt },
})

const keyIdOf = (x: string): string => `did:jwk:${encoded({ crv: 'Ed25519', kty: 'OKP', x })}#0`

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function decoded(text: string): object {
  try {
    return Object(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return {}
  }
}

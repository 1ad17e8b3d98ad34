/** Ed25519 keys that receipts are signed by, made of the installation's secrets. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Keys } from '#rows/secrets.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import { partDigest, RECEIPT_FORMAT, type Receipt, type ReceiptParts, signedBytes } from './receipt.ts'
import { type X402Paid, x402PartOf } from './x402Receipt.ts'

type PublicKey = Receipt['key']

interface KeyPair {
  readonly secret: KeyObject
  readonly shown: PublicKey
}

export class ReceiptKeys {
  #pairs: readonly [KeyPair, ...KeyPair[]]

  /** @param keys the first one signs */
  constructor(keys: Keys) {
    this.#pairs = pairsOf(keys)
  }

  use(keys: Keys): void {
    this.#pairs = pairsOf(keys)
  }

  /** The newest first: what an older one signed stays provable. */
  get published(): readonly PublicKey[] {
    return this.#pairs.map(({ shown }) => shown)
  }

  /**
   * As canonical JSON: the same parts give the same text.
   * @param x402 what clients of x402 have a receipt of their own for; null for none
   */
  signed(told: Omit<ReceiptParts, 'x402'>, x402: X402Paid | null): string {
    const [{ secret, shown: key }] = this.#pairs
    const parts: ReceiptParts = { ...told, x402: x402 && x402PartOf(x402, key.x, secret) }
    const digests = {
      job: partDigest(parts.job),
      nodes: partDigest(parts.nodes),
      amounts: partDigest(parts.amounts),
      settlement: partDigest(parts.settlement),
      transfer: partDigest(parts.transfer),
      x402: partDigest(parts.x402),
    }
    const head = { format: RECEIPT_FORMAT, digests, key } as const
    const signature = sign(null, signedBytes(head), secret).toString('base64url')
    return canonicalJson({ ...parts, ...head, signature } satisfies Receipt)
  }
}

/** RFC 8410: what stands in front of the 32 bytes of a secret key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

const pairsOf = ([first, ...others]: Keys): readonly [KeyPair, ...KeyPair[]] => [
  pairOf(first),
  ...others.map(pairOf),
]

function pairOf(seed: Uint8Array): KeyPair {
  const secret = createPrivateKey({
    ...{ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' },
  })
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  return { secret, shown: { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x) } }
}

/** RFC 7638. */
export const thumbprint = (x: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')

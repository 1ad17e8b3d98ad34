/** Any Tempo transaction with any signature, as viem has it and as a node answers it. */
import fc from 'fast-check'
import { type Hex, keccak256 } from 'viem'
import { Transaction } from 'viem/tempo'
import { accessList, address, bytes, quantity, uint32, uint64, uint256, word } from './arbitrary.ts'

export const { z_SignatureEnvelope: SignatureEnvelope, z_TxEnvelopeTempo: TxEnvelopeTempo } = Transaction
export type Envelope = Parameters<typeof TxEnvelopeTempo.serialize>[0]
type Signature = NonNullable<Envelope['signature']>

const scalar = fc.bigInt({ min: 1n, max: 2n ** 250n })
const yParity = fc.constantFrom<0 | 1>(0, 1)
const secp256k1 = fc.record({ r: scalar, s: scalar, yParity })
const publicKey = fc.record({ prefix: fc.constant(4 as const), x: scalar, y: scalar })
const p256 = fc.record({ signature: fc.record({ r: scalar, s: scalar }), publicKey, prehash: fc.boolean() })
const metadata = fc.record({ authenticatorData: bytes(37), clientDataJSON: fc.json({ maxDepth: 0 }) })

const primitive: fc.Arbitrary<Signature> = fc.oneof(
  secp256k1.map((signature) => ({ type: 'secp256k1' as const, signature })),
  p256.map((signature) => ({ type: 'p256' as const, ...signature })),
  fc.tuple(p256, metadata).map(([{ signature, publicKey }, data]) => {
    return { type: 'webAuthn' as const, signature, publicKey, metadata: data }
  }),
)
const keychain: fc.Arbitrary<Signature> = fc
  .record({ inner: primitive, userAddress: address, version: fc.constantFrom('v1', 'v2') })
  .map((signature) => ({ type: 'keychain' as const, ...signature }) as Signature)
const signature = fc.oneof(primitive, keychain)

const limit = fc.record({ token: address, limit: uint256, period: fc.option(uint32, { nil: undefined }) })
const scope = fc.record({ address, selector: bytes(4), recipients: fc.array(address, { maxLength: 2 }) })
const keyAuthorization = fc.record({
  chainId: uint32.map(BigInt),
  address,
  type: fc.constantFrom('secp256k1', 'p256', 'webAuthn'),
  expiry: fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined }),
  limits: fc.option(fc.array(limit, { maxLength: 2 }), { nil: undefined }),
  scopes: fc.option(fc.uniqueArray(scope, { maxLength: 2, selector: (one) => one.address }), {
    nil: undefined,
  }),
  witness: fc.option(word, { nil: undefined }),
  isAdmin: fc.constantFrom(true, undefined),
  account: fc.option(address, { nil: undefined }),
  signature: primitive,
})

const call = fc.record({ to: fc.option(address, { nil: undefined }), value: uint256, data: bytes(0, 90) })
const delegation = fc.record({ address, chainId: uint32, nonce: uint64, signature })
export const tempoEnvelope = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 32 }),
  maxPriorityFeePerGas: uint32.map(BigInt),
  maxFeePerGas: uint32.map((price) => 2n ** 32n + BigInt(price)),
  gas: uint64,
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  accessList,
  nonceKey: uint256,
  nonce: uint64,
  validBefore: fc.option(fc.integer({ min: 2 ** 32, max: 2 ** 40 }), { nil: undefined }),
  validAfter: fc.option(fc.integer({ min: 1, max: 2 ** 31 }), { nil: undefined }),
  feeToken: fc.option(address, { nil: undefined }),
  feePayerSignature: fc.option(secp256k1, { nil: undefined }),
  authorizationList: fc.array(delegation, { maxLength: 2 }),
  keyAuthorization: fc.option(keyAuthorization, { nil: undefined }),
  signature,
})

/** The transaction as a node answers it. */
export function tempoAnswer(
  tx: typeof tempoEnvelope extends fc.Arbitrary<infer Value> ? Value : never,
  serialized: Hex,
) {
  const optional = (value: number | undefined) => (value === undefined ? null : quantity(value))
  return {
    type: '0x76',
    hash: keccak256(serialized),
    chainId: quantity(tx.chainId),
    maxPriorityFeePerGas: quantity(tx.maxPriorityFeePerGas),
    maxFeePerGas: quantity(tx.maxFeePerGas),
    gas: quantity(tx.gas),
    calls: tx.calls.map(({ to, value, data }) => ({
      to: to ?? null,
      value: quantity(value),
      input: data,
      data: null,
    })),
    accessList: tx.accessList,
    nonceKey: quantity(tx.nonceKey),
    nonce: quantity(tx.nonce),
    validBefore: optional(tx.validBefore),
    validAfter: optional(tx.validAfter),
    feeToken: tx.feeToken ?? null,
    feePayerSignature: tx.feePayerSignature ? rsv(tx.feePayerSignature) : null,
    aaAuthorizationList: tx.authorizationList.map((one) => ({
      chainId: quantity(one.chainId),
      address: one.address,
      nonce: quantity(one.nonce),
      signature: SignatureEnvelope.toRpc(one.signature),
    })),
    keyAuthorization: tx.keyAuthorization ? keyAnswer(tx.keyAuthorization) : null,
    signature: SignatureEnvelope.toRpc(tx.signature),
  }
}

function rsv({ r, s, yParity }: { r: bigint; s: bigint; yParity: number }) {
  return { r: quantity(r), s: quantity(s), yParity: quantity(yParity), v: quantity(yParity) }
}

function keyAnswer(key: typeof keyAuthorization extends fc.Arbitrary<infer Value> ? Value : never) {
  const hasLaterFields = key.witness !== undefined || key.isAdmin === true || key.account !== undefined
  // viem writes absent limits before call scopes as an empty list; a node reads that as limits that
  // allow nothing.
  const noLimits = key.scopes !== undefined && !hasLaterFields ? [] : null
  return {
    chainId: quantity(key.chainId),
    keyType: key.type,
    keyId: key.address,
    expiry: key.expiry === undefined ? null : quantity(key.expiry),
    limits:
      key.limits?.map((one) => ({ ...one, limit: quantity(one.limit), period: quantity(one.period ?? 0) })) ??
      noLimits,
    allowedCalls:
      key.scopes?.map((one) => ({
        target: one.address,
        selectorRules: [{ selector: one.selector, recipients: one.recipients }],
      })) ?? null,
    witness: key.witness ?? null,
    isAdmin: key.isAdmin ?? false,
    account: key.account ?? null,
    signature: SignatureEnvelope.toRpc(key.signature),
  }
}

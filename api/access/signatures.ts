/**
 * Whether an account signed a hash: by its own key (secp256k1, P-256, WebAuthn), which needs no
 * node, or by an access key or as a contract, which only the chain's state can tell.
 */
import { KeyAuthorization, SignatureEnvelope } from 'ox/tempo'
import { Abis } from 'viem/tempo'
import { concat, keccak256, parseAbi } from 'viem/utils'
import { type Address, address, type Hex } from '#primitives.ts'
import type { ContractQuestion } from '#store/follow/askContracts.ts'

/** Asks contracts at the newest block; null where one gave no answer that fits. */
export type AskNode = (questions: readonly ContractQuestion[]) => Promise<readonly unknown[]>

export interface AccountSignature {
  readonly account: Address
  /** The bytes that were signed, hashed. */
  readonly hash: Hex
  /** As wallets serialize it: 65 bytes, or a Tempo envelope, or what a contract understands. */
  readonly signature: Hex
}

/**
 * `askNode` is used for access keys and contracts alone. @throws what `askNode` throws
 */
export async function isSigned(
  signed: AccountSignature,
  nowSeconds: number,
  askNode: AskNode,
): Promise<boolean> {
  const envelope = read(() => SignatureEnvelope.deserialize(signed.signature))
  if (envelope?.type === 'keychain') return isSignedByAccessKey(signed, envelope, nowSeconds, askNode)
  if (envelope && isOfKey(envelope, signed.account, signed.hash)) return true
  return isSignedByContract(signed, askNode)
}

/**
 * The same for an authorization of an access key that the account signed, and that names `hash` as
 * its witness: one signature makes the key and signs in. Serialized, as `KeyAuthorization.serialize`
 * of `ox` writes it.
 */
export function isAuthorized({ account, hash, signature }: AccountSignature, authorization: Hex): boolean {
  const key = read(() => KeyAuthorization.deserialize(authorization))
  const envelope = read(() => SignatureEnvelope.deserialize(signature))
  if (!key || !envelope || key.witness?.toLowerCase() !== hash) return false
  if (key.account !== undefined && key.account.toLowerCase() !== account) return false
  const payload = read(() => KeyAuthorization.getSignPayload(key))
  return payload !== null && isOfKey(envelope, account, payload)
}

function isOfKey(envelope: SignatureEnvelope.SignatureEnvelope, account: Address, payload: Hex): boolean {
  return read(() => SignatureEnvelope.verify(envelope, { address: account, payload })) ?? false
}

/** An access key is one while the account's keychain says so; the envelope names the account. */
async function isSignedByAccessKey(
  { account, hash }: AccountSignature,
  { userAddress, inner, version }: SignatureEnvelope.Keychain,
  nowSeconds: number,
  askNode: AskNode,
): Promise<boolean> {
  if (userAddress.toLowerCase() !== account) return false
  // Since version 2 an access key signs for which account it acts.
  const payload = version === 'v2' ? keccak256(concat(['0x04', hash, account])) : hash
  const key = read(() => address(SignatureEnvelope.extractAddress({ payload, signature: inner })))
  if (!key || !isOfKey(inner, key, payload)) return false
  const [held] = await askNode([{ to: keychain, ask: getKey, args: [account, key] }])
  return isActive(held, key, nowSeconds)
}

function isActive(held: unknown, key: Address, nowSeconds: number): boolean {
  if (typeof held !== 'object' || held === null) return false
  const { keyId, expiry, isRevoked } = { keyId: '', expiry: 0n, isRevoked: true, ...held }
  return keyId.toLowerCase() === key && !isRevoked && expiry > BigInt(nowSeconds)
}

/** ERC-1271. An address without code answers nothing. */
async function isSignedByContract(
  { account, hash, signature }: AccountSignature,
  askNode: AskNode,
): Promise<boolean> {
  const question = { to: account, ask: isValidSignature, args: [hash, signature], gas: contractGas }
  const [answer] = await askNode([question])
  return answer === validSignature
}

/** The most gas that a sign-in may make the node compute. */
const contractGas: Hex = '0x989680'

const keychain = address('0xaaaaaaaa00000000000000000000000000000000')
const [isValidSignature] = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
const validSignature = '0x1626ba7e'
const getKey = functionOf('getKey')

function functionOf(name: string) {
  const found = Abis.accountKeychain.find((item) => item.type === 'function' && item.name === name)
  if (found?.type !== 'function') throw new TypeError(`the keychain has no function ${name}`)
  return found
}

/** The package throws for bytes that are no signature, and for points of no curve. */
function read<Value>(parse: () => Value): Value | null {
  try {
    return parse()
  } catch {
    return null
  }
}

/** A wallet's signature or transfer for an offer, and the payment's presentation. */
import { fromString as base64Of } from 'ox/Base64'
import { fromString as bytesOf } from 'ox/Bytes'
import { keccak256 } from 'ox/Hash'
import type { AuthorizationOffer, TransferOffer } from './offers.ts'

/** A header that pays for its request. */
export type Credential = readonly [header: string, value: string]

/** An EIP-3009 authorization, as it is signed. */
export interface AuthorizationMessage {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

/** The first four bytes of `transferWithMemo(address,uint256,bytes32)`. */
const TRANSFER_WITH_MEMO = '0x95777d59'
/** The topic of `TransferWithMemo(address,address,uint256,bytes32)`. */
const TRANSFERRED = '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0'
/** Marks a payment of MPP: the first bytes of the hash of `mpp`, and the version of the memo. */
const MEMO_TAG = 'ef1ed71201'
const FINGERPRINT_CHARACTERS = 20
const NONCE_CHARACTERS = 14
/** A clock that is behind may not make a signature one that is not valid yet. */
const BEHIND_SECONDS = 600

/** The transfer, bound by its memo to the challenge: it pays for nothing else. */
export const transferCall = (offer: TransferOffer): { readonly to: string; readonly data: string } => ({
  to: offer.token,
  data: `${TRANSFER_WITH_MEMO}${wordOf(offer.recipient)}${wordOf(BigInt(offer.units).toString(16))}${memoOf(offer)}`,
})

/**
 * The filter by which `eth_getLogs` finds the transfer, whatever became of the transaction that was asked
 * for.
 */
export const transferLogs = (offer: TransferOffer, account: string) => ({
  address: offer.token,
  topics: [TRANSFERRED, `0x${wordOf(account)}`, `0x${wordOf(offer.recipient)}`, `0x${memoOf(offer)}`],
})

export const hashCredential = (
  { challenge, chainId }: TransferOffer,
  account: string,
  hash: string,
): Credential => {
  const source = `did:pkh:eip155:${chainId}:${account}`
  const text = JSON.stringify({ challenge, payload: { hash, type: 'hash' }, source })
  return ['authorization', `Payment ${base64Of(text, { url: true, pad: false })}`]
}

export function authorizationOf(
  { recipient, units, validSeconds }: AuthorizationOffer,
  { from, nonce, nowSeconds }: { readonly from: string; readonly nonce: string; readonly nowSeconds: number },
): AuthorizationMessage {
  const times = {
    validAfter: `${nowSeconds - BEHIND_SECONDS}`,
    validBefore: `${nowSeconds + validSeconds}`,
  }
  return { from, to: recipient, value: units, ...times, nonce }
}

/** As `eth_signTypedData_v4` takes it. */
export const typedDataOf = (offer: AuthorizationOffer, message: AuthorizationMessage) => ({
  domain: {
    ...{ name: offer.name, version: offer.version },
    ...{ chainId: offer.chainId, verifyingContract: offer.token },
  },
  primaryType: 'TransferWithAuthorization',
  types: {
    EIP712Domain: typed({
      name: 'string',
      version: 'string',
      chainId: 'uint256',
      verifyingContract: 'address',
    }),
    TransferWithAuthorization: typed({
      ...{ from: 'address', to: 'address', value: 'uint256' },
      ...{ validAfter: 'uint256', validBefore: 'uint256', nonce: 'bytes32' },
    }),
  },
  message,
})

export const signedCredential = (
  { accepted, resource }: AuthorizationOffer,
  authorization: AuthorizationMessage,
  signature: string,
): Credential => {
  const payment = { x402Version: 2, resource, accepted, payload: { signature, authorization } }
  return ['payment-signature', base64Of(JSON.stringify(payment))]
}

/** Thirty-two bytes: the mark, who sells, nobody in the place of a client, and the challenge. */
function memoOf({ challenge: { realm = '', id = '' } }: TransferOffer): string {
  const hashOf = (text: string) => keccak256(bytesOf(text), { as: 'Hex' }).slice(2)
  const seller = hashOf(realm).slice(0, FINGERPRINT_CHARACTERS)
  return `${MEMO_TAG}${seller}${'0'.repeat(FINGERPRINT_CHARACTERS)}${hashOf(id).slice(0, NONCE_CHARACTERS)}`
}

const wordOf = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')

const typed = (types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([name, type]) => ({ name, type }))

/** Signed 0x76 transactions, made with viem, and what nodes tell of them. */
import { fromRlp, type Hex, numberToHex, toRlp } from 'viem'
import { Account, Transaction } from 'viem/tempo'
import type { JsonObject } from './builtBlock.ts'

const { z_SignatureEnvelope: SignatureEnvelope, z_TxEnvelopeTempo: TxEnvelopeTempo } = Transaction

/** The lane in which a nonce is any number of 64 bits, and no sequence (TIP-1106, since T12). */
export const anyNonceLane = 2n ** 256n - 1n

export const tempoAccount = (digit: string) => Account.fromSecp256k1(`0x${digit.repeat(64)}`)
type TempoAccount = ReturnType<typeof tempoAccount>

export interface TempoFields {
  readonly calls: readonly { readonly to: Hex; readonly value: bigint; readonly data: Hex }[]
  readonly maxFeePerGas: bigint
  readonly gas: bigint
  readonly nonceKey: bigint
  readonly nonce: bigint
  readonly feeToken?: Hex
}

export interface SignedTempo {
  readonly bytes: Hex
  /** Without its place in a block, its hash and its sender. */
  readonly json: JsonObject
}

/** A signature of a kind that viem does not make: its bytes, and what a node tells of it. */
export interface OtherSignature {
  readonly bytes: Hex
  readonly json: unknown
}

/** @param other who signs the hash instead of the account (drafts, since T14) */
export async function signTempo(
  account: TempoAccount,
  fields: TempoFields,
  other?: (hash: Hex) => Promise<OtherSignature>,
): Promise<SignedTempo> {
  const envelope = TxEnvelopeTempo.from({ type: 'tempo', chainId: 4217, ...fields })
  const hash = TxEnvelopeTempo.getSignPayload(envelope)
  const signature = SignatureEnvelope.deserialize(await account.sign({ hash }))
  const signed = await other?.(hash)
  const bytes = TxEnvelopeTempo.serialize(envelope, { signature })
  const { calls, maxFeePerGas, gas, nonceKey, nonce, feeToken = null } = fields
  return {
    bytes: signed === undefined ? bytes : resigned(bytes, signed.bytes),
    json: {
      type: '0x76',
      chainId: '0x1079',
      calls: calls.map(({ to, value, data }) => ({ to, value: numberToHex(value), input: data, data: null })),
      maxPriorityFeePerGas: '0x0',
      maxFeePerGas: numberToHex(maxFeePerGas),
      gasPrice: numberToHex(maxFeePerGas),
      gas: numberToHex(gas),
      accessList: [],
      aaAuthorizationList: [],
      nonceKey: numberToHex(nonceKey),
      nonce: numberToHex(nonce),
      feeToken,
      validBefore: null,
      validAfter: null,
      signature: signed?.json ?? JSON.parse(JSON.stringify(SignatureEnvelope.toRpc(signature))),
    },
  }
}

/** The signature is the last item of the envelope. */
function resigned(bytes: Hex, signature: Hex): Hex {
  const items = fromRlp(`0x${bytes.slice(4)}`) as Hex[]
  return `0x76${toRlp([...items.slice(0, -1), signature]).slice(2)}`
}

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

/** @param owners a configurable account (draft, since T14) instead of the one that signs */
export async function signTempo(
  account: TempoAccount,
  fields: TempoFields,
  owners?: Hex,
): Promise<SignedTempo> {
  const envelope = TxEnvelopeTempo.from({ type: 'tempo', chainId: 4217, ...fields })
  const hash = TxEnvelopeTempo.getSignPayload(envelope)
  const signature = SignatureEnvelope.deserialize(await account.sign({ hash }))
  const bytes = TxEnvelopeTempo.serialize(envelope, { signature })
  const { calls, maxFeePerGas, gas, nonceKey, nonce, feeToken = null } = fields
  return {
    bytes: owners === undefined ? bytes : resigned(bytes, `0x05${owners.slice(2)}`),
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
      signature: owners ?? JSON.parse(JSON.stringify(SignatureEnvelope.toRpc(signature))),
    },
  }
}

/** The signature is the last item of the envelope. */
function resigned(bytes: Hex, signature: Hex): Hex {
  const items = fromRlp(`0x${bytes.slice(4)}`) as Hex[]
  return `0x76${toRlp([...items.slice(0, -1), signature]).slice(2)}`
}

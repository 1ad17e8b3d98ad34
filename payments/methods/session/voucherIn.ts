/** A credential's request to a channel, as far as it tells without its channel. */
import type { Credential } from 'mppx'
import { isRecord, lowercased } from '#primitives.ts'

type Hex = `0x${string}`

export interface ChannelCredential {
  readonly action: 'open' | 'voucher' | 'topUp' | 'close'
  /** Lowercase, however it was written. */
  readonly channelId: Hex
  /** The amount signed for over the life of the channel; null for more deposit. */
  readonly cumulative: bigint | null
  readonly signature: Hex | null
  readonly payer: Hex
}

/** Null for what is none. */
export function voucherIn({ payload }: Pick<Credential.Credential, 'payload'>): ChannelCredential | null {
  if (!isRecord(payload)) return null
  const { action, channelId, cumulativeAmount, signature, descriptor } = payload
  const payer = isRecord(descriptor) ? descriptor['payer'] : undefined
  if (action !== 'open' && action !== 'voucher' && action !== 'topUp' && action !== 'close') return null
  if (!isHex(channelId, 32) || !isHex(payer, 20)) return null
  const isAmount = typeof cumulativeAmount === 'string' && /^\d{1,29}$/.test(cumulativeAmount)
  return {
    action,
    channelId: lowercased(channelId),
    cumulative: isAmount ? BigInt(cumulativeAmount) : null,
    signature: isHex(signature) ? lowercased(signature) : null,
    payer: lowercased(payer),
  }
}

const isHex = (value: unknown, bytes?: number): value is Hex =>
  typeof value === 'string' &&
  /^0x[0-9a-fA-F]*$/.test(value) &&
  (bytes === undefined || value.length === 2 + 2 * bytes)

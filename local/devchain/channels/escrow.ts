/**
 * The contract of payment channels on the dev chain. Tempo has one at this address since T5; here
 * one of our own stands there, ChannelEscrow.sol.
 */
import { encodeAbiParameters, keccak256, pad, toHex } from 'viem'
import type { DevRpc } from '../DevRpc.ts'
import escrow from './channelEscrow.json' with { type: 'json' }

type Hex = `0x${string}`

export const CHANNEL_ESCROW = '0x4d50500000000000000000000000000000000000'

/** Openings of ChannelEscrow.sol. */
const SLOT_OF_OPENINGS = 0n
/** Allowances by owner and spender, of the tokens that anvil has built in. */
const SLOT_OF_ALLOWANCES = 10n
/** Taken as without an end, so that payments leave it as it is. */
const ALLOWED = toHex(2n ** 256n - 1n)

/** Places the contract, where it is not yet. */
export async function placeChannels(rpc: DevRpc): Promise<void> {
  const code = await rpc.call('eth_getCode', CHANNEL_ESCROW, 'latest')
  if (code !== escrow.runtimeCode) await rpc.call('anvil_setCode', CHANNEL_ESCROW, escrow.runtimeCode)
}

/** Lets channels take what an account deposits, as those of Tempo may. */
export async function allowChannels(rpc: DevRpc, payer: Hex, token: Hex): Promise<void> {
  const slot = slotOf(CHANNEL_ESCROW, slotOf(payer, toHex(SLOT_OF_ALLOWANCES)))
  await rpc.call('anvil_setStorageAt', token, slot, ALLOWED)
}

/** Tells the contract the hash of the transaction that opens a channel, which only a node knows. */
export async function tellOpening(
  rpc: DevRpc,
  { payer, salt, hash }: { readonly payer: Hex; readonly salt: Hex; readonly hash: Hex },
): Promise<void> {
  const slot = slotOf(salt, slotOf(payer, toHex(SLOT_OF_OPENINGS)))
  await rpc.call('anvil_setStorageAt', CHANNEL_ESCROW, slot, hash)
}

/** The slot of a mapping's entry. */
function slotOf(key: Hex, mapping: Hex): Hex {
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [pad(key), pad(mapping)]))
}

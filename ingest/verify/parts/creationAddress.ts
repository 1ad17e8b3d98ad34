import type { Address } from '#primitives.ts'
import { keccak256Hex } from '../tries/keccak.ts'
import { RlpWriter } from '../tries/rlp.ts'

const writer = new RlpWriter()
/** `0x` and twelve bytes of a hash, before the twenty of the address. */
const HEX_BEFORE = 2 + 2 * 12

/** The contract that a transaction without a recipient creates. */
export function creationAddress(from: Address, nonce: string | null | undefined): string {
  writer.rewind(0)
  writer.writeList([from, nonce ?? '0x0'])
  return `0x${keccak256Hex(writer.since(0)).slice(HEX_BEFORE)}`
}

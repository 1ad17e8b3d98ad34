/**
 * Well-known addresses of Tempo: predeployed contracts and prefixes that tell what an address is.
 * They are the same on every Tempo chain; on other chains nothing lives there. Source: viem's
 * `tempo/Addresses` and the protocol's own pages.
 */
import { type Address, address, PATH_USD } from '#primitives.ts'

export const zeroAddress = address('0x0000000000000000000000000000000000000000')

/**
 * Emits Transfer when the native coin moves, where a chain has EIP-7708. Amounts of the coin are no
 * token's, so its logs are logs alone.
 */
export const nativeCoinEmitter = address('0xfffffffffffffffffffffffffffffffffffffffe')

export const tip20FactoryAddress = address('0x20fc000000000000000000000000000000000000')
export const pathUsdAddress = address(PATH_USD)
/** Fee manager and fee AMM are one contract; every fee is a Transfer to it. */
export const feeManagerAddress = address('0xfeec000000000000000000000000000000000000')
export const stablecoinDexAddress = address('0xdec0000000000000000000000000000000000000')
export const tip403RegistryAddress = address('0x403c000000000000000000000000000000000000')
/** Holds transfers a receiver's policy blocked, until they are claimed or burned. */
export const receivePolicyGuardAddress = address('0xb10c000000000000000000000000000000000000')
export const accountKeychainAddress = address('0xaaaaaaaa00000000000000000000000000000000')
export const nonceManagerAddress = address('0x4e4f4e4345000000000000000000000000000000')
export const addressRegistryAddress = address('0xfdc0000000000000000000000000000000000000')
export const channelReserveAddress = address('0x4d50500000000000000000000000000000000000')
/** Draft, since T14. Development builds before it had their multisig here. */
export const configurableAccountsAddress = address('0xaacc000000000000000000000000000000000000')
/** Draft: which keys of issuers attest identities (TIP-1132). */
export const keyPublisherAddress = address('0x1132000000000000000000000000000000000000')
/** Native since T10. */
export const zoneFactoryAddress = address('0x5af2000000000000000000000000000000000000')
export const validatorConfigAddress = address('0xcccccccc00000000000000000000000000000001')
/** Lives inside zones, not on the public chain. */
export const zoneOutboxAddress = address('0x1c00000000000000000000000000000000000002')

/**
 * Standard tokens: the first 12 bytes of their addresses are these, the other 8 are each token's
 * own.
 */
export const tip20 = { prefix: '0x20c000000000000000000000' } as const

/** Whether a standard token (TIP-20) lives, or may come to live, at the address. */
export function isTip20(token: Address): boolean {
  return token.startsWith(tip20.prefix)
}

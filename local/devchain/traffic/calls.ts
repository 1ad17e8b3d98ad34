/**
 * The calls transactions are made of: addresses of Tempo's contracts, and encoders for them and for
 * our own.
 */
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeDeployData,
  encodeFunctionData,
  encodePacked,
  keccak256,
  parseAbi,
  stringToHex,
} from 'viem'
import { Abis } from 'viem/tempo'
import type { Hex } from '#primitives.ts'
import { genesisTokens } from '../genesisAccount.ts'
import contracts from './contracts.json' with { type: 'json' }

/** One call of a transaction; without `to` it creates a contract. */
export interface TxCall {
  readonly to?: Hex
  readonly data: Hex
}

/** TIP-20 tokens of anvil's block 0; each dev account holds 2^64-1 of each. */
export const pathUsd: Hex = genesisTokens.pathUSD
export const alphaUsd: Hex = genesisTokens.AlphaUSD
export const betaUsd: Hex = '0x20c0000000000000000000000000000000000002'

export const tokenFactory: Hex = '0x20fc000000000000000000000000000000000000'
export const feeManager: Hex = '0xfeec000000000000000000000000000000000000'
export const exchange: Hex = '0xdec0000000000000000000000000000000000000'
export const policyRegistry: Hex = '0x403c000000000000000000000000000000000000'
export const keychain: Hex = '0xaaaaaaaa00000000000000000000000000000000'
export const nonceManager: Hex = '0x4e4f4e4345000000000000000000000000000000'
export const addressRegistry: Hex = '0xfdc0000000000000000000000000000000000000'

/** The largest amount TIP-20 knows. */
export const unlimited = 2n ** 128n - 1n

/** Our own contracts, compiled from contracts.sol. */
export const plainTokenAbi = parseAbi([
  'constructor(string name, string symbol, uint8 decimals, uint256 supply)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function balanceOf(address holder) view returns (uint256)',
])
export const collectibleAbi = parseAbi(['function mint(address to)'])
export const earnVaultAbi = parseAbi([
  'constructor(address asset)',
  'function deposit(uint256 assets, address receiver)',
  'function depositVenueShares(uint256 venueShares, address receiver)',
  'function redeem(uint256 shares, address receiver)',
  'function withdrawExact(uint256 assets, address receiver)',
  'function redeemInSteps(uint256 shares, address receiver, bool cancel)',
  'function sharesOf(address holder) view returns (uint256)',
])
export const workshopAbi = parseAbi(['function build(bytes32 salt)'])
export const faultyAbi = parseAbi(['function fail(uint256 way)', 'function failInside(uint256 way)'])
export const oddLogsAbi = parseAbi(['function emitOdd(uint256 kind)'])

type Writes<abi extends Abi> = ContractFunctionName<abi, 'nonpayable'>
type Arguments<abi extends Abi, name extends Writes<abi>> =
  ContractFunctionArgs<abi, 'nonpayable', name> extends infer list extends readonly unknown[] ? list : never

/** A call of a contract's function, typed by its ABI. */
export function abiCall<const abi extends Abi, name extends Writes<abi>>(
  to: Hex,
  abi: abi,
  name: name,
  args: Arguments<abi, name>,
): TxCall {
  const untyped: { abi: Abi; functionName: string; args: readonly unknown[] } = {
    abi,
    functionName: name,
    args,
  }
  return { to, data: encodeFunctionData(untyped) }
}

export function onToken<name extends Writes<typeof Abis.tip20>>(
  token: Hex,
  name: name,
  ...args: Arguments<typeof Abis.tip20, name>
): TxCall {
  return abiCall(token, Abis.tip20, name, args)
}

export function onExchange<name extends Writes<typeof Abis.stablecoinDex>>(
  name: name,
  ...args: Arguments<typeof Abis.stablecoinDex, name>
): TxCall {
  return abiCall(exchange, Abis.stablecoinDex, name, args)
}

/** The creation of a PlainToken, and of the contracts without arguments. */
export function createPlainToken(name: string, symbol: string, decimals: number, supply: bigint): TxCall {
  const { bytecode } = bytecodeOf('PlainToken')
  return { data: encodeDeployData({ abi: plainTokenAbi, bytecode, args: [name, symbol, decimals, supply] }) }
}

export function createEarnVault(asset: Hex): TxCall {
  const { bytecode } = bytecodeOf('EarnVault')
  return { data: encodeDeployData({ abi: earnVaultAbi, bytecode, args: [asset] }) }
}

export function createContract(name: 'Collectible' | 'Workshop' | 'Faulty' | 'OddLogs'): TxCall {
  return { data: bytecodeOf(name).bytecode }
}

/**
 * The address the TIP-20 factory gives a creator's token: prefix and the top 64 bits of
 * keccak256(creator, salt).
 */
export function tokenAddress(creator: Hex, salt: Hex): Hex {
  const hash = keccak256(`0x${creator.slice(2).padStart(64, '0')}${salt.slice(2)}`)
  return `0x20c000000000000000000000${hash.slice(2, 18)}`
}

/** The key of an exchange pair. */
export function pairKey(base: Hex, quote: Hex): Hex {
  return keccak256(encodePacked(['address', 'address'], [base, quote]))
}

/** The id of a TIP-20 role. */
export function roleOf(name: 'ISSUER_ROLE' | 'PAUSE_ROLE' | 'UNPAUSE_ROLE' | 'BURN_BLOCKED_ROLE'): Hex {
  return keccak256(stringToHex(name))
}

function bytecodeOf(name: Exclude<keyof typeof contracts, 'sourceSha256'>): { bytecode: Hex } {
  return { bytecode: `0x${contracts[name].bytecode.slice(2)}` }
}

/** Our own contracts, compiled from contracts/contracts.sol. */
import { encodeDeployData, parseAbi } from 'viem'
import type { TxCall } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'
import compiled from '../contracts/contracts.json' with { type: 'json' }

/** Also of OldCoin, whose transfers return nothing and whose constructor takes nothing. */
export const coinAbi = parseAbi([
  'constructor(string name, string symbol, uint8 decimals, uint256 supply)',
  'function transfer(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
])
export const nftAbi = parseAbi(['function mint(uint256 id)'])
export const vaultAbi = parseAbi([
  'constructor(address asset)',
  'function deposit(uint256 assets, address receiver)',
  'function depositVenueShares(uint256 shares, address receiver)',
  'function redeem(uint256 shares, address receiver)',
  'function withdrawExact(uint256 assets, address receiver)',
])
export const factoryAbi = parseAbi(['function make(bytes32 salt)'])
export const failingAbi = parseAbi(['function fail(uint256 kind)', 'function swallow(uint256 kind)'])
export const zooAbi = parseAbi(['function show(uint256 kind, uint256 x)'])

export function createCoin(name: string, symbol: string, decimals: number, supply: bigint): TxCall {
  const args = [name, symbol, decimals, supply] as const
  return { data: encodeDeployData({ abi: coinAbi, bytecode: bytecodeOf('Coin'), args }) }
}

export function createVault(asset: Hex): TxCall {
  return { data: encodeDeployData({ abi: vaultAbi, bytecode: bytecodeOf('Vault'), args: [asset] }) }
}

/** The creation of a contract without arguments. */
export function createContract(name: 'OldCoin' | 'Nft' | 'Factory' | 'Failing' | 'Zoo'): TxCall {
  return { data: bytecodeOf(name) }
}

function bytecodeOf(name: Exclude<keyof typeof compiled, 'sourceSha256'>): Hex {
  return `0x${compiled[name].bytecode.slice(2)}`
}

/**
 * A dollar with EIP-3009 on the dev chain, Dollar.sol, for sellers that are paid by x402: the tokens
 * of Tempo know no authorizations.
 */
import { createClient, encodeFunctionData, type Hex, http, parseAbi, parseSignature } from 'viem'
import { call } from 'viem/actions'
import type { DevRpc } from '../DevRpc.ts'
import { type DevNode, type GenesisCall, sendFromGenesis } from '../genesisAccount.ts'
import compiled from './dollar.json' with { type: 'json' }

export const DEV_DOLLAR: Hex = '0x5553440000000000000000000000000000000000'

const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** Places the contract, where it is not yet. */
export async function placeDollar(rpc: DevRpc): Promise<void> {
  const code = await rpc.call('eth_getCode', DEV_DOLLAR, 'latest')
  if (code !== compiled.runtimeCode) await rpc.call('anvil_setCode', DEV_DOLLAR, compiled.runtimeCode)
}

/** The call that gives an account so many units of it. */
export const mintOf = (to: Hex, units: bigint): GenesisCall => ({
  to: DEV_DOLLAR,
  data: encodeFunctionData({ abi, functionName: 'mint', args: [to, units] }),
})

/**
 * The authorization that a payer signs by EIP-3009. Amount and times are decimal text: units, Unix seconds.
 */
export interface SignedAuthorization {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
  readonly signature: string
}

/** The token as whoever sells for it needs it. */
export const devDollarOn = (chain: DevNode) => ({
  address: DEV_DOLLAR,
  // By its domain (EIP-712) clients sign.
  ...{ name: 'USD Coin', version: '2', decimals: 6 },
  settle: (authorization: SignedAuthorization) => settle(chain, authorization),
})

/** Tried out first, so that what the token refuses sends nothing. @throws where the chain refuses it */
async function settle(chain: DevNode, authorization: SignedAuthorization): Promise<Hex> {
  const transfer = { to: DEV_DOLLAR, data: dataOf(authorization) } as const
  await call(createClient({ transport: http(chain.rpcUrl) }), transfer)
  return sendFromGenesis(chain, transfer)
}

function dataOf(signed: SignedAuthorization): Hex {
  const { r, s, yParity } = parseSignature(hex(signed.signature))
  const { from, to, value, validAfter, validBefore, nonce } = signed
  const times = [BigInt(validAfter), BigInt(validBefore)] as const
  return encodeFunctionData({
    abi,
    functionName: 'transferWithAuthorization',
    args: [hex(from), hex(to), BigInt(value), ...times, hex(nonce), 27 + yParity, r, s],
  })
}

const hex = (text: string): Hex => `0x${text.replace(/^0x/, '')}`

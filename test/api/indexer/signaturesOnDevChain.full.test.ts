// Goal: an access key signs in while the account's keychain on a real chain says so, and a contract
// by what it says itself (API-03).
// Method: keys authorized and revoked by transactions of a real dev chain, a contract deployed
// there; signing in over HTTP, with a server that asks that chain's own endpoint.
import { concatHex, encodeFunctionData, type Hex, hashMessage, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { Account } from 'viem/tempo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newToken } from '#api/access/token.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { type Address, address } from '#primitives.ts'
import { userOfAddress } from '#rows/access/users.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { askContracts } from '#store/follow/askContracts.ts'
import { silentLogger } from '#telemetry.ts'
import { startTestDevChain } from '../../support/devchain.ts'
import { app, ask, challenge, me, node, origin, wrongClock } from '../support/signInServer.ts'

const keychain = '0xaaaaaaaa00000000000000000000000000000000'
const keychainAbi = parseAbi([
  'struct Limit { address token; uint256 amount; uint64 period; }',
  'struct Rule { bytes4 selector; address[] recipients; }',
  'struct Scope { address target; Rule[] selectorRules; }',
  'struct Config { uint64 expiry; bool enforceLimits; Limit[] limits; bool allowAnyCalls; Scope[] allowedCalls; }',
  'function authorizeKey(address keyId, uint8 signatureType, Config config)',
  'function revokeKey(address keyId)',
])
const { signal } = new AbortController()

let chain: Awaited<ReturnType<typeof startTestDevChain>>
let rpc: DevRpc
let account: Address
beforeAll(async () => {
  chain = await startTestDevChain()
  rpc = new DevRpc(chain.rpcUrl)
  const source = createSource({
    ...{ chainId: 4217, urls: [chain.rpcUrl], finalityDepth: 0, runtime: systemRuntime(), log: silentLogger },
  })
  node.ask = (questions) => askContracts(contractCalls(source), questions, 'latest', signal)
  const [first] = (await rpc.call('eth_accounts')) as string[]
  account = address(String(first))
  await userOfAddress(app, account)
})
afterAll(() => chain?.remove())

async function send(transaction: {
  readonly to?: Hex
  readonly data: Hex
}): Promise<{ contractAddress: string }> {
  const sent = await rpc.call('eth_sendTransaction', { from: account, gas: '0x2dc6c0', ...transaction })
  await rpc.call('evm_mine')
  const receipt = (await rpc.call('eth_getTransactionReceipt', sent)) as {
    status: string
    contractAddress: string
  }
  expect(receipt.status).toBe('0x1')
  return receipt
}
const nowSeconds = () => Math.floor(Date.now() / 1_000)
/** Signs in over HTTP, and uses the session. */
async function signedIn(of: Address, message: string, signature: Hex): Promise<[number, number]> {
  const told = await ask('/v1/auth/siwe', { address: of, message, signature, returnToken: true })
  return [told.status, await me(told.token ?? newToken('session'))]
}
const inside = [200, 200]
const outside = [401, 401]

test.each([
  ['secp256k1', 0, (of: Address) => Account.fromSecp256k1(generatePrivateKey(), { access: of })],
  ['P-256', 1, (of: Address) => Account.fromP256(generatePrivateKey(), { access: of })],
  [
    'WebAuthn',
    2,
    (of: Address) =>
      Account.fromHeadlessWebAuthn(generatePrivateKey(), { rpId: 'example.com', origin, access: of }),
  ],
] as const)(
  'an access key of %s signs in from its authorization to its end or its revocation',
  async (_name, type, make) => {
    const key = make(account)
    const signIn = async () => {
      const message = await challenge()
      return signedIn(account, message, await key.signMessage({ message }))
    }
    expect(await signIn()).toEqual(outside)
    const expiry = BigInt(nowSeconds() + 86_400)
    const authorize = { abi: keychainAbi, functionName: 'authorizeKey' } as const
    const anything = { enforceLimits: false, limits: [], allowAnyCalls: true, allowedCalls: [] }
    const args = [key.accessKeyAddress, type, { expiry, ...anything }] as const
    await send({ to: keychain, data: encodeFunctionData({ ...authorize, args }) })
    expect(await signIn()).toEqual(inside)
    const another = await key.signMessage({ message: await challenge() })
    expect(await signedIn(account, await challenge(), another)).toEqual(outside)
    wrongClock.ms = 86_400_000
    expect(await signIn()).toEqual(outside)
    wrongClock.ms = 0
    expect(await signIn()).toEqual(inside)
    const revoke = { abi: keychainAbi, functionName: 'revokeKey', args: [key.accessKeyAddress] } as const
    await send({ to: keychain, data: encodeFunctionData(revoke) })
    expect(await signIn()).toEqual(outside)
  },
)

test('a contract signs in by what it says (ERC-1271), an address without code never', async () => {
  const message = await challenge()
  const { contractAddress } = await send({ data: signerOf(hashMessage(message)) })
  const contract = address(contractAddress)
  const nobody = address(`0x${'c0'.repeat(20)}`)
  for (const one of [contract, nobody]) await userOfAddress(app, one)
  const signature = `0x${'12'.repeat(200)}` as const
  expect(await signedIn(contract, await challenge(), signature)).toEqual(outside)
  expect(await signedIn(nobody, message, signature)).toEqual(outside)
  expect(await signedIn(contract, message, signature)).toEqual(inside)
})

/** Creation of a contract that calls every signature of this hash valid, and no other. */
function signerOf(signed: Hex): Hex {
  const magic = '0x1626ba7e'
  // PUSH32 signed, CALLDATALOAD(4), EQ, times the magic value on the left, RETURN(0, 32).
  const code = concatHex(['0x7f', signed, '0x6004351463', magic, '0x60e01b0260005260206000f3'])
  const length = numberToHex(54, { size: 1 })
  return concatHex(['0x60', length, '0x600c60003960', length, '0x6000f3', code])
}

// Goal: an access key signs in while the account's keychain on a real chain says so, and a contract
// signs what it says itself.
// Method: keys authorized and revoked by transactions of a real dev chain, a contract deployed
// there; the same questions as in signing in, through the chain's own endpoint.
import { concatHex, encodeFunctionData, type Hex, hashMessage, numberToHex, parseAbi } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { Account } from 'viem/tempo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AskNode, isSigned } from '#api/access/signatures.ts'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { DevRpc } from '#local/devchain/devRpc.ts'
import { type Address, address, hash, type Hex as OwnHex } from '#primitives.ts'
import { systemRuntime } from '#runtime.ts'
import { askContracts } from '#store/follow/askContracts.ts'
import { silentLogger } from '#telemetry.ts'
import { startTestDevChain } from '../support/devchain.ts'

const keychain = '0xaaaaaaaa00000000000000000000000000000000'
const keychainAbi = parseAbi([
  'struct Limit { address token; uint256 amount; uint64 period; }',
  'struct Rule { bytes4 selector; address[] recipients; }',
  'struct Scope { address target; Rule[] selectorRules; }',
  'struct Config { uint64 expiry; bool enforceLimits; Limit[] limits; bool allowAnyCalls; Scope[] allowedCalls; }',
  'function authorizeKey(address keyId, uint8 signatureType, Config config)',
  'function revokeKey(address keyId)',
])
const message = 'data.example.com wants you to sign in'
const { signal } = new AbortController()

let chain: Awaited<ReturnType<typeof startTestDevChain>>
let rpc: DevRpc
let askNode: AskNode
let account: Address
beforeAll(async () => {
  chain = await startTestDevChain()
  rpc = new DevRpc(chain.rpcUrl)
  const source = createSource({
    ...{ chainId: 4217, urls: [chain.rpcUrl], finalityDepth: 0, runtime: systemRuntime(), log: silentLogger },
  })
  askNode = (questions) => askContracts(contractCalls(source), questions, 'latest', signal)
  const [first] = (await rpc.call('eth_accounts')) as string[]
  account = address(String(first))
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
const signs = (of: Address, signature: Hex, text = message) =>
  isSigned(
    { account: of, hash: hash(hashMessage(text)), signature: signature as OwnHex },
    nowSeconds(),
    askNode,
  )

test.each([
  ['secp256k1', 0, Account.fromSecp256k1],
  ['P-256', 1, Account.fromP256],
] as const)(
  'an access key of %s is one from its authorization to its revocation',
  async (_name, type, make) => {
    const key = make(generatePrivateKey(), { access: account })
    const signature = await key.signMessage({ message })
    expect(await signs(account, signature)).toBe(false)
    const expiry = BigInt(nowSeconds() + 86_400)
    const authorize = { abi: keychainAbi, functionName: 'authorizeKey' } as const
    const anything = { enforceLimits: false, limits: [], allowAnyCalls: true, allowedCalls: [] }
    const args = [key.accessKeyAddress, type, { expiry, ...anything }] as const
    await send({ to: keychain, data: encodeFunctionData({ ...authorize, args }) })
    expect(await signs(account, signature)).toBe(true)
    expect(await signs(account, signature, 'another message')).toBe(false)
    const revoke = { abi: keychainAbi, functionName: 'revokeKey', args: [key.accessKeyAddress] } as const
    await send({ to: keychain, data: encodeFunctionData(revoke) })
    expect(await signs(account, signature)).toBe(false)
  },
)

test('a contract signs what it says (ERC-1271), an address without code nothing', async () => {
  const { contractAddress } = await send({ data: signerOf(hashMessage(message)) })
  const contract = address(contractAddress)
  const signature = `0x${'12'.repeat(200)}` as const
  expect(await signs(contract, signature)).toBe(true)
  expect(await signs(contract, signature, 'another message')).toBe(false)
  expect(await signs(address(`0x${'c0'.repeat(20)}`), signature)).toBe(false)
})

/** Creation of a contract that calls every signature of this hash valid, and no other. */
function signerOf(signed: Hex): Hex {
  const magic = '0x1626ba7e'
  // PUSH32 signed, CALLDATALOAD(4), EQ, times the magic value on the left, RETURN(0, 32).
  const code = concatHex(['0x7f', signed, '0x6004351463', magic, '0x60e01b0260005260206000f3'])
  const length = numberToHex(54, { size: 1 })
  return concatHex(['0x60', length, '0x600c60003960', length, '0x6000f3', code])
}

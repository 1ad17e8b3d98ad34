/** A second chain, 8453, with a dollar that knows EIP-3009, and payers that are the library's client. */
import { spawn } from 'node:child_process'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch'
import { createWalletClient, http, parseAbi, parseSignature, publicActions, toHex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { vi } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import dollarCode from '#local/devchain/dollar/dollar.json' with { type: 'json' }
import { findAnvil } from '#local/devchain/findAnvil.ts'
import { accountOf } from './shop.ts'

export const SECOND_CHAIN = 8453
export const NETWORK = `eip155:${SECOND_CHAIN}` as const
/** The token that clients take for a dollar there, and its EIP-712 domain. */
export const DOLLAR = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const domain = { name: 'USD Coin', version: '2', chainId: SECOND_CHAIN, verifyingContract: DOLLAR } as const

const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address holder) view returns (uint256)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

export async function startSecondChain() {
  const { rpcUrl, stop } = await startAnvil()
  // The node has its key, and numbers its transactions.
  const account = accountOf(0).address
  const client = createWalletClient({
    ...{ account, chain: base, transport: http(rpcUrl), pollingInterval: 50 },
  }).extend(publicActions)
  /** The library's own wait looks at new blocks alone, and misses the only one if it comes while it asks. */
  const mined = (hash: `0x${string}`) =>
    vi.waitFor(() => client.getTransactionReceipt({ hash }), { timeout: 120_000 })
  const dollar = { address: DOLLAR, abi } as const
  const rpc = new DevRpc(rpcUrl)
  await rpc.call('anvil_setCode', DOLLAR, dollarCode.runtimeCode)
  const coins = (address: string) => rpc.call('anvil_setBalance', address, toHex(10n ** 18n))
  /** New units of the dollar. */
  const mint = async (to: `0x${string}`, units: bigint) =>
    mined(await client.writeContract({ ...dollar, functionName: 'mint', args: [to, units] }))
  return {
    ...{ rpcUrl, rpc, client, mined, mint, stop },
    balanceOf: (holder: `0x${string}`) =>
      client.readContract({ ...dollar, functionName: 'balanceOf', args: [holder] }),
    /** An account with so many of the dollar's units; a new one, unless it is given. */
    payer: async (
      units = 1_000_000n,
      account = privateKeyToAccount(generatePrivateKey()),
    ): Promise<PrivateKeyAccount> => {
      await mint(account.address, units)
      return account
    },
    /** A new account with coins for fees. */
    feePayer: async () => {
      const key = generatePrivateKey()
      await coins(privateKeyToAccount(key).address)
      return key
    },
    /** The payer takes back what it signed. */
    cancel: async (account: PrivateKeyAccount, nonce: `0x${string}`) => {
      const { r, s, yParity } = parseSignature(
        await account.signTypedData({
          domain,
          types: {
            CancelAuthorization: [
              { name: 'authorizer', type: 'address' },
              { name: 'nonce', type: 'bytes32' },
            ],
          },
          primaryType: 'CancelAuthorization',
          message: { authorizer: account.address, nonce },
        }),
      )
      const args = [account.address, nonce, 27 + yParity, r, s] as const
      await mined(await client.writeContract({ ...dollar, functionName: 'cancelAuthorization', args }))
    },
  }
}

async function startAnvil() {
  const flags = ['--chain-id', `${SECOND_CHAIN}`, '--port', '0']
  const anvil = spawn(findAnvil(), flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => anvil.once('exit', () => resolve()))
  const rpcUrl = await new Promise<string>((resolve, reject) => {
    let told = ''
    anvil.stdout.on('data', (bytes) => {
      told += bytes
      const [, address] = /Listening on (\S+)/.exec(told) ?? []
      if (address) resolve(`http://${address}`)
    })
    anvil.once('exit', () => reject(new Error(`anvil ended: ${told}`)))
  })
  const stop = () => {
    anvil.kill()
    return ended
  }
  return { rpcUrl, stop }
}

export type SecondChain = Awaited<ReturnType<typeof startSecondChain>>

/** The library's client of one payer. */
export function x402Payer(account: PrivateKeyAccount) {
  const client = new x402Client().register(NETWORK, new ExactEvmScheme(account))
  const protocol = new x402HTTPClient(client)
  return {
    fetch: wrapFetchWithPayment(fetch, client),
    /** The header that pays for a request, made and not sent. */
    credentialFor: async (url: string, init?: RequestInit): Promise<string> => {
      const refused = await fetch(url, init)
      const required = protocol.getPaymentRequiredResponse((name) => refused.headers.get(name))
      const payload = await protocol.createPaymentPayload(required)
      return protocol.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'] ?? ''
    },
  }
}

export const lower = (text: string): `0x${string}` => `0x${text.slice(2).toLowerCase()}`

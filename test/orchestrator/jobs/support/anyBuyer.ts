/** One payer by every way to pay, each the client of its library, and what a seller asks for. */
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { Challenge } from 'mppx'
import { evm, Mppx, tempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo as tempoChain } from 'viem/chains'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import type { DevNode } from '#local/devchain/genesisAccount.ts'
import { address } from '#primitives.ts'

/** The offer of a 402. */
export interface Offer {
  readonly way: string
  readonly amount: bigint
  readonly token: `0x${string}`
  readonly payee: `0x${string}`
}

type Buy = (url: string, init: RequestInit) => Promise<number>

/** Each challenge of MPP by method and intent, and x402. */
export function offersIn(refused: Response): readonly Offer[] {
  const challenges = Challenge.fromResponseList(refused).map(({ method, intent, request }) => ({
    ...{ way: `${method}/${intent}`, amount: BigInt(String(request['amount'])) },
    ...{ token: address(String(request['currency'])), payee: address(String(request['recipient'])) },
  }))
  const required = refused.headers.get('payment-required')
  const accepted = required === null ? [] : decodePaymentRequiredHeader(required).accepts
  const exact = accepted.map(({ amount, asset, payTo }) => ({
    ...{ way: 'x402', amount: BigInt(amount), token: address(asset), payee: address(payTo) },
  }))
  return [...challenges, ...exact]
}

/**
 * An account with money of the dev chain. Each way buys one call, and tells the status of the answer.
 * @param inner fetches for x402
 */
export async function openAnyBuyer(
  chain: DevNode,
  dollar: string,
  inner = fetch,
): Promise<ReadonlyMap<string, Buy>> {
  const account = privateKeyToAccount(generatePrivateKey())
  await fundAccount(chain, account.address)
  const { chainId } = chain
  const client = createClient({
    ...{ account, chain: { ...tempoChain, id: chainId }, transport: http(chain.rpcUrl) },
  })
  const payer = { account, getClient: () => client }
  const currencies = [address(dollar)]
  const direct = evm.charge({
    ...{ account, currencies, networks: [chainId], authorization: { name: 'USD Coin', version: '2' } },
  })
  const charging = Mppx.create({ polyfill: false, methods: [tempo.charge(payer)] })
  const authorizing = Mppx.create({ polyfill: false, methods: [direct] })
  const exact = new x402Client()
    .register(`eip155:${chainId}`, new ExactEvmScheme(account))
    .setSpendControls({ allowedAssets: [{ network: `eip155:${chainId}`, asset: dollar }] })
  const byX402 = wrapFetchWithPayment(inner, exact)
  return new Map<string, Buy>([
    ['tempo/charge', async (url, init) => (await charging.fetch(url, init)).status],
    ['evm/charge', async (url, init) => (await authorizing.fetch(url, init)).status],
    ['x402', async (url, init) => (await byX402(url, init)).status],
    [
      'tempo/session',
      async (url, init) => {
        const session = tempo.session.manager({ account, client, maxDeposit: '1' })
        const { status } = await session.fetch(url, init)
        await session.close()
        return status
      },
    ],
  ])
}

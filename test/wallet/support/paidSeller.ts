/** A seller that takes real payments by the library's server, and then does as a test says. */
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Mppx, tempo } from 'mppx/server'
import { createClient, http } from 'viem'
import { tempo as tempoChain } from 'viem/chains'
import { type Asked, openSeller, type Seller } from '../../orchestrator/support/seller.ts'
import { accountOf, PATH_USD } from '../../payments/support/shop.ts'

export interface Terms {
  readonly amount?: string
  readonly currency?: `0x${string}`
  readonly recipient?: `0x${string}`
  readonly chainId?: number
  readonly isSponsored?: true
}

export interface PaidSeller extends Seller {
  /** Sets the price of a path, and what is done there once a payment is offered. */
  readonly sell: (path: string, terms: Terms, act: Act) => void
}

const sponsor = accountOf(6)

/** `take` broadcasts the payment: true where it settled, and was not taken before. */
export type Act = (response: ServerResponse, take: () => Promise<boolean>, times: number) => Promise<void>

interface Chain {
  readonly rpcUrl: string
  readonly chainId: number
}

export async function openPaidSeller(
  chain: Chain,
  recipient: `0x${string}`,
  atEnd: (end: () => Promise<void>) => void,
): Promise<PaidSeller> {
  const seller = await openSeller(atEnd)
  return {
    ...seller,
    sell: (path, terms, act) => {
      const ask = moneyOf(chain, { recipient, ...terms })
      let times = 0
      seller.on(path, (asked, response) => {
        answer(asked, response, ask, (take) => act(response, take, ++times)).catch(() => response.destroy())
      })
    },
  }
}

type Ask = (request: Request) => Promise<Response | null>

/** Null once the request is paid for. */
function moneyOf({ rpcUrl, chainId }: Chain, terms: Terms & { readonly recipient: `0x${string}` }): Ask {
  const { amount = '0.01', currency = PATH_USD, recipient, isSponsored } = terms
  const asked = terms.chainId ?? chainId
  const client = createClient({ chain: { ...tempoChain, id: asked }, transport: http(rpcUrl) })
  const charge = tempo.charge({
    ...{ currency, recipient, chainId: asked, decimals: 6, getClient: () => client },
    ...(isSponsored && { feePayer: sponsor }),
  })
  const mppx = Mppx.create({
    realm: 'lying.example',
    secretKey: randomBytes(32).toString('hex'),
    methods: [charge],
  })
  return async (request) => {
    const taken = await mppx.compose(['tempo/charge', { amount, chainId: asked }])(request)
    return taken.status === 402 ? taken.challenge : null
  }
}

async function answer(
  { headers, url }: Asked,
  response: ServerResponse,
  ask: Ask,
  act: (take: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const { authorization } = headers
  const at = `http://lying.example${url}`
  const take = async () => {
    const given = new Request(at, { headers: { authorization: authorization ?? '' } })
    return (await ask(given)) === null
  }
  if (authorization) return act(take)
  const challenge = await ask(new Request(at))
  response.writeHead(402, { 'www-authenticate': challenge?.headers.get('www-authenticate') ?? '' }).end()
}

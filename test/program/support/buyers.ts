/** Clients that others wrote, as they are, each with an account of its own that buys from a market. */
import { Credential } from 'mppx'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished } from 'vitest'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { membersOf } from '#primitives.ts'
import { agents } from '../../orchestrator/support/mcpClients.ts'
import { SECOND_CHAIN, type SecondChain, x402Payer } from '../../payments/support/secondChain.ts'
import { openSession } from '../../payments/support/sessions.ts'
import { ALPHA_USD, balanceOf, PATH_USD, payer } from '../../payments/support/shop.ts'
import { type Door, fromAnywhere, httpDoor, toolDoor } from './doors.ts'
import type { Market } from './market.ts'

/** The shop, and the chain beside it. */
export interface Selling {
  readonly origin: string
  readonly market: Market
  /** It has the token of x402. */
  readonly second: SecondChain
}

export interface Buyer {
  readonly address: `0x${string}`
  readonly door: Door
  /** As `usage.paymentMethod` tells it. */
  readonly paymentMethod: 'charge' | 'session'
  /** The one that it pays on. */
  readonly chainId: number
  /** Money that left its account, less what came back, in the smallest unit of its token. */
  readonly spent: () => Promise<bigint>
  /** The part of that which is for anything beside its job. */
  readonly beside: bigint
  /** Ends it: none of its money stays with anybody. */
  readonly leave: () => Promise<unknown>
}

/** Price of a read out of a deposit. */
const READ = 10n

export const buyers: readonly { readonly way: string; readonly open: (at: Selling) => Promise<Buyer> }[] = [
  { way: 'a charge', open: byCharge },
  { way: 'a charge in another currency', open: bySecondCurrency },
  { way: 'a session', open: bySession },
  { way: 'x402 on another chain', open: byX402 },
  ...agents.map(({ revision, connect }) => ({
    way: `the tools of ${revision}`,
    open: (at: Selling) => byTools(at, connect),
  })),
]

async function byCharge(at: Selling): Promise<Buyer> {
  const { node, ...buyer } = await funded(at)
  const { fetch: pay } = payer(buyer.account, node)
  return { ...buyer, ...single, door: httpDoor(at.origin, pay, pay) }
}

/** The client's way of choosing among what it is offered. */
async function bySecondCurrency(at: Selling): Promise<Buyer> {
  const { node, ...buyer } = await funded(at, ALPHA_USD)
  const client = payer(buyer.account, node)
  const pay: typeof fetch = async (input, init) => {
    const refused = await client.rawFetch(input, init)
    if (refused.status !== 402) return refused
    const chosen = await client.preparePayment(refused, {
      orderChallenges: (found) =>
        found.filter(({ challenge }) => challenge.request['currency'] === ALPHA_USD),
    })
    const headers = new Headers(init?.headers)
    headers.set('authorization', await chosen.createCredential())
    return fetch(input, { ...init, headers })
  }
  return { ...buyer, ...single, door: httpDoor(at.origin, pay, client.fetch) }
}

/** A read opens its channel; it adds to that, and buys the job by a voucher. */
async function bySession(at: Selling): Promise<Buyer> {
  const { node, ...buyer } = await funded(at)
  const { manager, sent } = openSession(buyer.account, node)
  const read = () => manager.fetch(`${at.origin}/v1/blocks?limit=5`)
  // One within its quota costs nothing.
  while ((await read()).receipt === null);
  await manager.topUp('0.25')
  const pay: typeof fetch = (input, init) => manager.fetch(input, init)
  const leave = async () => {
    await manager.close()
    // Each of them may be asked for again with another challenge.
    expect([...new Set(sent.flatMap(actionOf))]).toEqual(['open', 'topUp', 'voucher', 'close'])
  }
  return {
    ...{ ...buyer, paymentMethod: 'session', beside: READ, leave },
    door: httpDoor(at.origin, pay, payer(buyer.account, node).fetch),
  }
}

/** Its account proves itself on the chain of charges: that costs nothing. */
async function byX402({ origin, market, second }: Selling): Promise<Buyer> {
  const account = await second.payer()
  const { address } = account
  const before = await second.balanceOf(address)
  const { fetch: pay } = x402Payer(account)
  const { fetch: prove } = payer(account, await nodeOf(market))
  return {
    ...{ address, chainId: SECOND_CHAIN, spent: async () => before - (await second.balanceOf(address)) },
    ...{ ...single, door: httpDoor(origin, pay, prove) },
  }
}

async function byTools(at: Selling, connect: (typeof agents)[number]['connect']): Promise<Buyer> {
  const { node, ...buyer } = await funded(at)
  const agent = await connect(at.origin, fromAnywhere)
  onTestFinished(agent.close)
  agent.payAs(buyer.account, node)
  return { ...buyer, ...single, door: toolDoor(agent) }
}

/** One payment, of a charge. */
const single = { paymentMethod: 'charge', beside: 0n, leave: async () => {} } as const

/** An account with money on the market's own chain. */
async function funded({ market }: Selling, token: `0x${string}` = PATH_USD) {
  const account = privateKeyToAccount(generatePrivateKey())
  const { address } = account
  await market.fund(address)
  const node = await nodeOf(market)
  const before = await balanceOf(node.rpcUrl, token, address)
  const spent = async () => before - (await balanceOf(node.rpcUrl, token, address))
  return { account, address, node, chainId: DEV_CHAIN_ID, spent }
}

const nodeOf = async ({ rpcUrl }: Market) => ({ rpcUrl: await rpcUrl(), chainId: DEV_CHAIN_ID })

/** The act on its channel that a request's credential is for. */
function actionOf({ headers }: Request): readonly unknown[] {
  const text = headers.get('authorization')
  return text === null ? [] : [membersOf(Credential.deserialize(text).payload)['action']]
}

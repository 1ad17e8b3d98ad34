// Goal: a replica that is late makes no settled x402 payment a failed one, and a node that refuses makes
// none unknown (PAY-05).
// Method: a second chain whose node answers some calls as of an older block, where each call of a provider
// may reach such a replica; or that takes nothing.
import { custom, http } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hexQuantity } from '#local/devchain/DevRpc.ts'
import { type Ask, askOf } from '#money/node.ts'
import { openAppStore } from '../support/appStore.ts'
import { lower, SECOND_CHAIN, type SecondChain, startSecondChain, x402Payer } from './support/secondChain.ts'
import { startOddNode } from './support/secrecy.ts'
import { accountOf, openShop, PRICE } from './support/shop.ts'
import { localFacilitator, x402Method } from './support/x402Method.ts'

const { app } = await openAppStore()
let chain: SecondChain
let key: `0x${string}`
let payees = 7_700
beforeAll(async () => {
  chain = await startSecondChain()
  key = await chain.feePayer()
})
afterAll(() => chain?.stop())

/** A provider; the calls in `late` reach a replica whose newest block is `head`. */
class Provider {
  late: ReadonlySet<string> = new Set()
  head = 0n
  readonly #ask: Ask

  constructor(rpcUrl: string) {
    this.#ask = askOf(http(rpcUrl))
  }

  readonly transport = custom(
    { request: ({ method, params = [] }) => this.#answer(method, params) },
    { retryCount: 0 },
  )

  async #answer(method: string, params: readonly unknown[]): Promise<unknown> {
    const ask = (by: readonly unknown[]) => this.#ask(method, by)
    const [first, ...others] = params
    if (!this.late.has(method)) return ask(params)
    const head = hexQuantity(Number(this.head))
    if (method === 'eth_call') return ask([first, head])
    if (method === 'eth_getBlockByNumber') return ask([first === 'latest' ? head : first, ...others])
    if (method === 'eth_getLogs') {
      const filter = Object(first)
      if (BigInt(filter.fromBlock) > this.head) return []
      return ask([{ ...filter, toBlock: BigInt(filter.toBlock) > this.head ? head : filter.toBlock }])
    }
    const answer = await ask(params)
    return BigInt(Object(answer).blockNumber ?? 0) > this.head ? null : answer
  }
}

test.each([
  ['eth_getLogs'],
  ['eth_getTransactionReceipt'],
  ['eth_getTransactionReceipt', 'eth_getLogs'],
  ['eth_getTransactionReceipt', 'eth_getBlockByNumber'],
  ['eth_getTransactionReceipt', 'eth_call'],
])('a payment that settled is answered, or asked about again, behind a late %s %s', async (...late) => {
  const recipient = lower(accountOf(payees++).address)
  const provider = new Provider(chain.rpcUrl)
  const place = { app, rpcUrl: chain.rpcUrl }
  const x402 = await x402Method({
    ...{ ...place, recipient, transport: provider.transport },
    facilitator: localFacilitator({ ...place, key, perDay: 10n ** 18n }),
  })
  const shop = await openShop({
    ...{ ...place, chainId: SECOND_CHAIN, recipient },
    methods: (charges) => [charges, x402],
  })
  const credential = await x402Payer(await chain.payer()).credentialFor(`${shop.origin}/read`)
  const read = () => fetch(`${shop.origin}/read`, { headers: { 'payment-signature': credential } })

  provider.head = BigInt(Number(await chain.rpc.call('eth_blockNumber')))
  provider.late = new Set(late)
  const answer = await read()
  expect(answer.headers.get('payment-required')).toBeNull()
  expect([200, 503]).toContain(answer.status)
  provider.late = new Set()
  if (answer.status === 503) expect((await read()).status).toBe(200)
  expect(await chain.balanceOf(recipient)).toBe(PRICE)
  await shop.close()
})

test('a payment whose transaction the node refuses is challenged anew at once, and pays still', async () => {
  const node = await startOddNode(chain.rpcUrl)
  onTestFinished(() => void node.close())
  const recipient = lower(accountOf(payees++).address)
  const place = { app, rpcUrl: node.rpcUrl }
  const facilitator = localFacilitator({ ...place, key, perDay: 10n ** 18n })
  const x402 = await x402Method({ ...place, recipient, facilitator })
  const shop = await openShop({ ...place, chainId: SECOND_CHAIN, recipient, methods: () => [x402] })
  const credential = await x402Payer(await chain.payer()).credentialFor(`${shop.origin}/read`)
  const read = () => fetch(`${shop.origin}/read`, { headers: { 'payment-signature': credential } })

  const rejected = { code: -32_003, message: 'transaction underpriced' }
  node.wire.order = (method) => (method === 'eth_sendRawTransaction' ? rejected : null)
  const answer = await read()
  const detail = expect.stringMatching(/the chain would not take it/)
  expect([answer.status, await answer.json()]).toMatchObject([402, { detail }])
  node.wire.order = () => null
  expect((await read()).status).toBe(200)
  expect(await chain.balanceOf(recipient)).toBe(PRICE)
  await shop.close()
})

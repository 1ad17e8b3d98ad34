// Goal: fees of payers are paid for them, for so much a day and no more; what a payer has sent itself
// counts once.
// Method: a server over Postgres and a dev chain; payers are the clients of the payment library.
import { randomBytes } from 'node:crypto'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { tempo } from 'viem/chains'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { SponsorFunds } from '#payments/chain/SponsorFunds.ts'
import { paymentStore } from '#payments/methods/session/channelStore.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { keepHash, leftToday } from '#rows/payments/sponsored.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../support/appStore.ts'
import { startTestDevChain } from '../support/devchain.ts'
import {
  ALPHA_USD,
  accountOf,
  balanceOf,
  openShop,
  PATH_USD,
  PRICE,
  payer,
  type Shop,
} from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startTestDevChain>>
let shop: Shop
let other: Shop
let payees = 90
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startTestDevChain(chainId)
  await new DevRpc(chain.rpcUrl).call('evm_setIntervalMining', 1)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  const { address } = accountOf(payees++)
  recipient = `0x${address.slice(2).toLowerCase()}`
  await app.deleteFrom('app.sponsored_days').execute()
  ;[shop, other] = await Promise.all([openSponsored(10_000_000n), openSponsored(10_000_000n)])
  return () => Promise.all([shop.close(), other.close()])
})

const openSponsored = (limit: bigint, account = accountOf(7), isFunded = () => true) => {
  const sponsor = new Sponsor({ app, chainId, account, limit, isFunded })
  return openShop({
    ...{ app, rpcUrl: chain.rpcUrl, chainId, recipient, key },
    sponsoring: {
      ...{ sponsor, store: paymentStore(app) },
      keepHash: (identity, txHash) => keepHash(app, identity, txHash),
    },
  })
}
const balance = (index: number, token: `0x${string}` = PATH_USD) =>
  balanceOf(chain.rpcUrl, token, accountOf(index).address)
const received = (token: `0x${string}` = PATH_USD) => balanceOf(chain.rpcUrl, token, recipient)
const pay = (index: number) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })

describe('a sponsored charge', () => {
  test('costs its payer the price, and its sponsor the fee', async () => {
    const before = await balance(1)
    const answer = await pay(1).fetch(`${shop.origin}/read`)
    expect(answer.status).toBe(200)
    expect([before - (await balance(1)), await received()]).toEqual([PRICE, PRICE])
    const [payment] = await listPayments(app, 1)
    const receipt = JSON.parse(
      Buffer.from(answer.headers.get('payment-receipt') ?? '', 'base64url').toString(),
    )
    expect(payment).toMatchObject({ state: 'settled', txHash: receipt.reference })
    expect(await leftToday(app, chainId, 10_000_000n)).toBeLessThan(10_000_000n)
  })

  test('is the payer’s own where the sponsor has no money', async () => {
    const poor = accountOf(5_000)
    const tokens = () => [PATH_USD, ALPHA_USD] as const
    const funds = new SponsorFunds({
      ...{ tokens, account: poor.address, transport: http(chain.rpcUrl), clock: systemRuntime().clock },
    })
    await funds.check()
    expect([funds.isThere, funds.problems.length]).toEqual([false, 2])
    const unsponsored = await openSponsored(10_000_000n, poor, () => funds.isThere)
    const before = await balance(3)
    const answer = await pay(3).fetch(`${unsponsored.origin}/read`)
    expect([answer.status, await received()]).toEqual([200, PRICE])
    expect(before - (await balance(3))).toBeGreaterThan(PRICE)
    await unsponsored.close()
  })

  test('is taken in another currency', async () => {
    const client = pay(2)
    const refused = await client.rawFetch(`${shop.origin}/read`)
    const chosen = await client.preparePayment(refused, { orderChallenges: (found) => found.toReversed() })
    const before = await balance(2, ALPHA_USD)
    const authorization = await chosen.createCredential()
    const answer = await fetch(`${shop.origin}/read`, { headers: { authorization } })
    expect([answer.status, await received(ALPHA_USD), before - (await balance(2, ALPHA_USD))]).toEqual([
      200,
      PRICE,
      PRICE,
    ])
  })

  test('is not offered where the limit of the day is reached: payers pay their own fees', async () => {
    const poor = await openSponsored(40_000n)
    const before = await balance(3)
    expect((await pay(3).fetch(`${poor.origin}/read`)).status).toBe(200)
    expect(before - (await balance(3))).toBeGreaterThan(PRICE)
    expect(await received()).toBe(PRICE)
    await poor.close()
  })

  test('shares the limit of a day with those beside it, in all processes', async () => {
    // Each reserves some 9,500: the sponsor's offer needs room for 50,000, and nine are too many.
    const limit = 51_000n
    const shops = await Promise.all([openSponsored(limit), openSponsored(limit)])
    const credentials = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 8, 9].map(async (index) => {
        const client = pay(index)
        const origin = shops[index % 2]?.origin
        return { origin, made: await client.createCredential(await client.rawFetch(`${origin}/read`)) }
      }),
    )
    const answers = await Promise.all(
      credentials.map(({ origin, made }) => fetch(`${origin}/read`, { headers: { authorization: made } })),
    )
    const paid = answers.filter(({ status }) => status === 200)
    expect(await leftToday(app, chainId, limit)).toBeGreaterThanOrEqual(0n)
    expect(await received()).toBe(BigInt(paid.length) * PRICE)
    expect(paid.length).toBeGreaterThan(0)
    // The limit has no room for all of them.
    expect(answers.length - paid.length).toBeGreaterThan(0)
    await Promise.all(shops.map((one) => one.close()))
  })
})

describe('a charge that its payer has sent', () => {
  /** A credential that names the transaction. */
  async function pushed(index: number): Promise<string> {
    const account = accountOf(index)
    const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(chain.rpcUrl) })
    const methods = [payByTempo({ account, mode: 'push', getClient: () => client })]
    const pusher = Mppx.create({ polyfill: false, methods })
    return pusher.createCredential(await pusher.rawFetch(`${shop.origin}/read`))
  }
  const send = (authorization: string, origin = shop.origin, path = '/read') =>
    fetch(`${origin}${path}`, { headers: { authorization } })

  test('is answered once, however often and wherever it is told', async () => {
    const credential = await pushed(4)
    expect(await received()).toBe(PRICE)
    expect((await send(credential, shop.origin, '/other')).status).toBe(402)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(credential, (index % 2 ? shop : other).origin)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 403 || status === 503)).toHaveLength(19)
    expect(await received()).toBe(PRICE)
  })

  test('is settled before the read, whose failure costs nothing of it', async () => {
    const credential = await pushed(5)
    shop.reads.fails = true
    expect((await send(credential)).status).toBe(503)
    expect((await listPayments(app, 1))[0]).toMatchObject({ state: 'settled', isAnswered: false, recipient })
    shop.reads.fails = false
    await expect.poll(async () => (await send(credential)).status).toBe(200)
    expect([(await send(credential)).status, await received()]).toEqual([403, PRICE])
  })
})

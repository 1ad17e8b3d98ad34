// Goal: a live stream that was paid for is answered when it was streamed, or its payer has left; one
// that we ended goes on by the same payment (PAY-07).
// Method: a server over Postgres and a dev chain, with a clock of ours; another one goes on.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { listPayments } from '#rows/payments/payments.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { HoldClock } from './support/HoldClock.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, payer, type Shop } from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let clock: HoldClock
let shop: Shop
let payees = 100
let recipient: `0x${string}`
let authorization: string
const shops: Shop[] = []
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  recipient = `0x${accountOf(payees++).address.slice(2).toLowerCase()}`
  clock = new HoldClock()
  shop = await open()
  const client = payer(accountOf(1), { rpcUrl: chain.rpcUrl, chainId })
  authorization = await client.createCredential(await client.rawFetch(`${shop.origin}/live`))
})
afterEach(async () => {
  for (const each of shops) each.shutDown()
  await Promise.all(shops.splice(0).map((each) => each.close()))
})

async function open(): Promise<Shop> {
  const opened = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient, key, clock })
  shops.push(opened)
  return opened
}

const listen = ({ origin }: Shop, signal?: AbortSignal) =>
  fetch(`${origin}/live`, { headers: { authorization }, ...(signal && { signal }) })

/** Once nobody works on it. */
const released = async () => {
  const payment = (await listPayments(app, 100)).find((one) => one.recipient === recipient)
  return { state: payment?.state, isHeld: payment?.isHeld, isAnswered: payment?.isAnswered }
}
const answered = { state: 'settled', isHeld: false, isAnswered: true }
const cut = { ...answered, isAnswered: false }

async function assertSpent(): Promise<void> {
  await expect.poll(released).toEqual(answered)
  expect((await listen(shop)).status).toBe(403)
  expect(await balanceOf(chain.rpcUrl, PATH_USD, recipient)).toBe(PRICE)
}

test('a stream is not answered while it lasts, and is once its time is over', async () => {
  const stream = await listen(shop)
  expect([stream.status, stream.headers.has('payment-receipt')]).toEqual([200, true])
  expect(await released()).toEqual({ state: 'settled', isHeld: true, isAnswered: false })
  await clock.advance(10 * 60_000)
  expect(await stream.text()).toContain('paid_time_over')
  await assertSpent()
})

test('a stream that its payer leaves is answered', async () => {
  const leaving = new AbortController()
  const stream = await listen(shop, leaving.signal)
  expect(stream.status).toBe(200)
  leaving.abort()
  await assertSpent()
})

test('a stream that ends with its server goes on at the next one by the same payment', async () => {
  const stream = await listen(shop)
  shop.shutDown()
  expect(await stream.text()).toContain('"reason":"shutdown"')
  await expect.poll(released).toEqual(cut)
  shop = await open()
  const leaving = new AbortController()
  expect((await listen(shop, leaving.signal)).status).toBe(200)
  leaving.abort()
  await assertSpent()
})

test.each([
  ['gave its place to another', async () => {}],
  ['failed', () => Promise.reject(new Error('the store is away'))],
])('a stream that %s goes on by the same payment', async (_, ends) => {
  const { streams } = shop.reads
  shop.reads.streams = ends
  expect(await (await listen(shop)).text()).not.toContain('closing')
  await expect.poll(released).toEqual(cut)
  shop.reads.streams = streams
  const leaving = new AbortController()
  expect((await listen(shop, leaving.signal)).status).toBe(200)
  leaving.abort()
  await assertSpent()
})

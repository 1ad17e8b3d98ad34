// Goal: a read that takes longer than its payment is valid is made once, and paid for in time (PAY-07).
// Method: a server over Postgres and a dev chain, whose long sleeps a test ends; the answer waits at
// a gate.
import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, payer, type Shop } from './support/shop.ts'

const chainId = 1337
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let shop: Shop
let gate: PromiseWithResolvers<void>
let payees = 120
let recipient: `0x${string}`
let authorization: string
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  sleepers.length = 0
  gate = Promise.withResolvers()
  recipient = `0x${accountOf(payees++).address.slice(2).toLowerCase()}`
  const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient }
  shop = await openShop({ ...options, key: randomBytes(32), clock })
  shop.reads.waitsFor = gate.promise
  const client = payer(accountOf(1), options)
  authorization = await client.createCredential(await client.rawFetch(`${shop.origin}/read`))
})
afterEach(() => shop.close())

const LONG_MS = 5_000
const sleepers: { readonly ms: number; readonly wake: () => void }[] = []
const system = systemRuntime().clock
const clock: Clock = {
  ...system,
  sleep: (ms, signal) =>
    ms < LONG_MS
      ? system.sleep(ms, signal)
      : new Promise((resolve, reject) => {
          sleepers.push({ ms, wake: resolve })
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        }),
}

const send = () => fetch(`${shop.origin}/read`, { headers: { authorization } })
const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)

/** The read is under way, and its payment comes to the end of its time. */
async function sendLate(): Promise<Response> {
  const answering = send()
  await expect.poll(() => shop.reads.count).toBe(1)
  for (const { wake } of sleepers.splice(0)) wake()
  await expect.poll(received).toBe(PRICE)
  gate.resolve()
  return answering
}

test('a read that outlives its payment is paid for on the way, and answered', async () => {
  const answer = await sendLate()
  expect([answer.status, answer.headers.has('payment-receipt')]).toEqual([200, true])
  expect([shop.reads.count, await received()]).toEqual([1, PRICE])
  expect((await send()).status).toBe(403)
})

test('a read that fails after that is made again for the same payment', async () => {
  shop.reads.fails = true
  expect((await sendLate()).status).toBe(503)
  shop.reads.fails = false
  shop.reads.waitsFor = null
  expect((await send()).status).toBe(200)
  expect([shop.reads.count, await received()]).toEqual([2, PRICE])
})

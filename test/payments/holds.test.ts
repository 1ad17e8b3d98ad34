// Goal: a payment is one process's while it works on it, and another's at most 20 seconds after that
// one died; one that was taken over goes on with nothing (PAY-04).
// Method: a server over Postgres and a dev chain, which holds its payments by a clock of ours; the
// answer waits at a gate, and another process is a statement of its own.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { takePayment } from '#rows/payments/holds.ts'
import { letGo, listPayments } from '#rows/payments/payments.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { deaf } from './support/deaf.ts'
import { HoldClock, RENEW_MS } from './support/HoldClock.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, payer, type Shop } from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let clock: HoldClock
let shop: Shop
let close: () => Promise<void>
let gate: PromiseWithResolvers<void>
let payees = 60
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  recipient = `0x${accountOf(payees++).address.slice(2).toLowerCase()}`
  clock = new HoldClock()
  await open(0)
})
afterEach(() => close())

/** @param unheard outcomes that are told as unknown first */
async function open(unheard: number): Promise<void> {
  gate = Promise.withResolvers<void>()
  const options = { app, rpcUrl: chain.rpcUrl, chainId, recipient, key, clock }
  const ending = new AbortController()
  const opened = await openShop({ ...options, methods: (charges) => [deaf(charges, unheard)] })
  const running = opened.payments.run(ending.signal)
  shop = opened
  close = async () => {
    gate.resolve()
    ending.abort()
    await Promise.all([opened.close(), running])
  }
}

const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)

async function credential(): Promise<string> {
  const client = payer(accountOf(1), { rpcUrl: chain.rpcUrl, chainId })
  return client.createCredential(await client.rawFetch(`${shop.origin}/read`))
}

const send = (authorization: string, signal?: AbortSignal) =>
  fetch(`${shop.origin}/read`, { headers: { authorization }, ...(signal && { signal }) })

/** Its answer waits at the gate. */
async function sendWaiting(authorization: string, signal?: AbortSignal) {
  const { count } = shop.reads
  shop.reads.waitsFor = gate.promise
  const answering = send(authorization, signal)
  await expect.poll(() => shop.reads.count).toBe(count + 1)
  shop.reads.waitsFor = null
  return answering
}

/** Those of this test. */
const claimed = async () => (await listPayments(app, 100)).filter((one) => one.recipient === recipient)
const latest = async () => {
  const [payment] = await claimed()
  if (!payment) throw new Error('nothing was claimed')
  return payment
}

/** Seconds that it is held for, rounded up. */
async function heldSeconds(): Promise<number> {
  const { id } = await latest()
  const { seconds } = await app
    .selectFrom('app.payments')
    .select(sql<number>`ceil(extract(epoch FROM held_until - clock_timestamp()))::integer`.as('seconds'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return seconds
}

async function holdFor(ms: number): Promise<void> {
  const { id } = await latest()
  await app
    .updateTable('app.payments')
    .set({ held_until: sql<Date>`clock_timestamp() + ${ms} * interval '1 ms'` })
    .where('id', '=', id)
    .execute()
}

/** Another process goes on with what is not held any more. */
async function takeOver() {
  await holdFor(0)
  const taken = await takePayment(app, (await latest()).id, 60_000)
  if (!taken) throw new Error('the payment is held still')
  return taken
}

test('a payment whose process died is free after 20 seconds', async () => {
  const answering = sendWaiting(await credential())
  await expect.poll(() => shop.reads.count).toBe(1)
  expect(await heldSeconds()).toBeLessThanOrEqual(20)
  gate.resolve()
  expect((await answering).status).toBe(200)
})

test('a payment is held for as long as its answer is made', async () => {
  const answering = sendWaiting(await credential())
  await expect.poll(() => shop.reads.count).toBe(1)
  // As it is at the next renewal.
  await holdFor(15_000)
  await clock.advance(RENEW_MS)
  await expect.poll(heldSeconds).toBeGreaterThan(15)
  gate.resolve()
  expect((await answering).status).toBe(200)
  expect(await received()).toBe(PRICE)
})

test('a payment that another process took over is not taken by the one that had it', async () => {
  const authorization = await credential()
  const answering = sendWaiting(authorization)
  await expect.poll(() => shop.reads.count).toBe(1)
  const taken = await takeOver()
  await clock.advance(RENEW_MS)
  gate.resolve()
  const answer = await answering
  expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([503, false])
  expect([await received(), (await latest()).attempt]).toEqual([0n, taken.attempt])
  await letGo(app, taken)
  expect((await send(authorization)).status).toBe(200)
  expect(await received()).toBe(PRICE)
})

test('the lost answer of a payment is given by the process alone that has it now', async () => {
  await close()
  await open(1)
  const authorization = await credential()
  expect((await send(authorization)).status).toBe(503)
  await shop.payments.reconcile()
  expect((await latest()).state).toBe('settled')
  const answering = sendWaiting(authorization)
  await expect.poll(() => shop.reads.count).toBe(2)
  const taken = await takeOver()
  gate.resolve()
  expect((await answering).status).toBe(503)
  await letGo(app, taken)
  expect((await send(authorization)).status).toBe(200)
  expect(await received()).toBe(PRICE)
})

test('what was let go is not held again', async () => {
  const authorization = await credential()
  const leaving = new AbortController()
  const left = sendWaiting(authorization, leaving.signal)
  await expect.poll(() => shop.reads.count).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await expect.poll(claimed).toEqual([])
  gate.resolve()
  await clock.advance(RENEW_MS)
  expect((await send(authorization)).status).toBe(200)
  expect(await received()).toBe(PRICE)
})

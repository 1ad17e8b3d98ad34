// Goal: a payer deposits once and signs for each read; what it signs is kept, spent once and paid out.
// Method: two servers over Postgres and a dev chain; the payer is the payment library's own client.
import { randomBytes } from 'node:crypto'
import { Credential } from 'mppx'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHANNEL_ESCROW } from '#local/devchain/channels/escrow.ts'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { findChannel, updateChannel } from '#rows/payments/channels.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { openSession, type PayerOptions, sessionsOf } from './support/sessions.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, type Shop } from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
const sponsor = new Sponsor({ app, chainId, account: accountOf(7), limit: 10_000_000n })
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let shop: Shop
let other: Shop
let payees = 60
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  recipient = lower(accountOf(payees++).address)
  ;[shop, other] = await Promise.all([open(), open()])
  return () => Promise.all([shop.close(), other.close()])
})

const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
const received = (token: `0x${string}` = PATH_USD) => balanceOf(chain.rpcUrl, token, recipient)

const open = () =>
  openShop({
    ...{ app, rpcUrl: chain.rpcUrl, chainId, recipient, key },
    methods: (charges) => [charges, sessions()],
  })

const sessions = () => sessionsOf({ app, rpcUrl: chain.rpcUrl, chainId, recipient, sponsor }, key)
const openPayer = (index: number, options: PayerOptions = {}) =>
  openSession(index, { rpcUrl: chain.rpcUrl, chainId }, options)

/** The credential of a request, and the same with the id of its channel in capitals. */
const bothCases = (request: Request | undefined): readonly [string, string] => {
  const authorization = request?.headers.get('authorization') ?? ''
  const credential = Credential.deserialize<{ channelId: string }>(authorization)
  const channelId = `0x${credential.payload.channelId.slice(2).toUpperCase()}`
  return [
    authorization,
    Credential.serialize({ ...credential, payload: { ...credential.payload, channelId } }),
  ]
}

/** Refused payments count against their caller: each of many is another one. */
const callerOf = (index: number) => ({ 'x-caller': `${index}` })

/** The first answer and five repeats at most. */
function assertAnsweredWithin(answers: readonly Response[]): void {
  const given = answers.filter(({ status }) => status === 200).length
  expect([given > 0, given <= 6]).toEqual([true, true])
  for (const { status } of answers) expect([200, 402, 503]).toContain(status)
}

describe('a session', () => {
  test('pays for reads by vouchers, tops up, and is closed for exactly what was read', async () => {
    const { manager: client } = openPayer(1)
    const first = await client.fetch(`${shop.origin}/read`)
    expect([first.status, await first.json()]).toEqual([200, { count: 1 }])
    for (const count of [2, 3]) {
      const answer = await client.fetch(`${shop.origin}/read`)
      expect([answer.status, await answer.json()]).toEqual([200, { count }])
      expect(answer.receipt).toMatchObject({ status: 'success', spent: `${PRICE * BigInt(count)}` })
    }
    // Another server knows the same channel.
    expect((await client.fetch(`${other.origin}/read`)).status).toBe(200)
    expect(await received()).toBe(0n)
    const receipt = await client.close()
    expect(receipt?.spent).toBe(`${4n * PRICE}`)
    expect([await received(), shop.reads.count + other.reads.count]).toEqual([4n * PRICE, 4])
    const channel = await findChannel(app, client.channelId ?? '')
    expect(channel).toMatchObject({ isClosed: true, spent: 4n * PRICE, settled: 4n * PRICE })
    const balances = await readBalances(app)
    expect(balances.find(({ account }) => account === `channel:${client.channelId}`)?.amount).toBe(0n)
  })

  test('grows by what its payer adds, once for each time', async () => {
    const before = await balanceOf(chain.rpcUrl, PATH_USD, CHANNEL_ESCROW)
    const held = async () => (await balanceOf(chain.rpcUrl, PATH_USD, CHANNEL_ESCROW)) - before
    const poor = openPayer(2, { maxDeposit: '0.001' })
    expect((await poor.read(`${shop.origin}/read`)).status).toBe(200)
    expect(await held()).toBe(2n * PRICE)
    const { channelStore } = poor
    const rich = openPayer(2, { maxDeposit: '0.01', channelStore })
    for (const _ of [1, 2, 3]) expect((await rich.read(`${shop.origin}/read`)).status).toBe(200)
    const [added, ...others] = rich.sent.filter(({ method }) => method === 'POST')
    expect(others).toEqual([])
    const deposited = await held()
    expect(deposited).toBeGreaterThan(2n * PRICE)
    expect(shop.reads.count).toBe(4)
    // The same once more changes nothing, and runs no read.
    expect((await fetch(added ?? '')).status).toBe(204)
    expect([await held(), shop.reads.count]).toEqual([deposited, 4])
  })

  test('is told to its payer alone, who has lost its own record', async () => {
    const first = openPayer(3)
    await first.read(`${shop.origin}/read`)
    const head = await fetch(`${other.origin}/read`, { method: 'HEAD' })
    expect([head.status, head.headers.get('payment-session')]).toEqual([402, null])
    const before = (await listPayments(app, 1_000)).length
    const cold = openPayer(3, { bootstrap: true })
    const answer = await cold.read(`${other.origin}/read`)
    expect([answer.status, answer.receipt?.spent]).toEqual([200, `${2n * PRICE}`])
    expect(cold.manager.channelId).toBe(first.manager.channelId)
    // The proof was no payment.
    expect((await listPayments(app, 1_000)).length - before).toBe(1)
    const proof = cold.sent.find(({ method, headers }) => method === 'HEAD' && headers.has('authorization'))
    expect((await fetch(proof ?? '')).status).toBe(402)
    const stranger = openPayer(4, { bootstrap: true })
    await stranger.read(`${other.origin}/read`)
    expect(stranger.manager.channelId).not.toBe(first.manager.channelId)
  })
})

describe('a voucher', () => {
  test('sent fifty times at once, to two servers, is charged once', async () => {
    const payer = openPayer(5)
    await payer.read(`${shop.origin}/read`)
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    const origins = Array.from({ length: 50 }, (_, index) => (index % 2 ? shop : other).origin)
    const answers = await Promise.all(
      origins.map((origin, index) => voucher(`${origin}/read`, { headers: callerOf(index) })),
    )
    assertAnsweredWithin(answers)
    expect(await findChannel(app, payer.manager.channelId ?? '')).toMatchObject({
      spent: 2n * PRICE,
      units: 2,
    })
  })

  test('is the same however the letters of its channel are written', async () => {
    const payer = openPayer(1)
    await payer.read(`${shop.origin}/read`)
    await payer.nextVoucher(`${shop.origin}/read`)
    const [plain, loud] = bothCases(payer.sent.at(-1))
    const spellings = Array.from({ length: 40 }, (_, index) => (index % 2 ? plain : loud))
    const answers = await Promise.all(
      spellings.map((authorization, index) =>
        fetch(`${(index % 4 < 2 ? shop : other).origin}/read`, {
          headers: { authorization, ...callerOf(index) },
        }),
      ),
    )
    assertAnsweredWithin(answers)
    const id = payer.manager.channelId ?? ''
    expect(await findChannel(app, id)).toMatchObject({ spent: 2n * PRICE, units: 2 })
    // Its row has one lock.
    const counted = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        updateChannel(app, index % 2 ? id : `0x${id.slice(2).toUpperCase()}`, (current) =>
          current
            ? { kept: { ...current, units: current.units + 1 }, result: current.units }
            : { result: -1 },
        ),
      ),
    )
    expect(new Set(counted).size).toBe(20)
  })

  test('pays for nothing else, and for nothing where the read fails', async () => {
    const payer = openPayer(6)
    await payer.read(`${shop.origin}/read`)
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    expect((await voucher(`${shop.origin}/other`)).status).toBe(402)
    shop.reads.fails = true
    expect((await voucher(`${shop.origin}/read`)).status).toBe(503)
    shop.reads.fails = false
    expect(await findChannel(app, payer.manager.channelId ?? '')).toMatchObject({
      spent: PRICE,
      accepted: PRICE,
    })
    expect((await voucher(`${shop.origin}/read`)).status).toBe(200)
    expect((await voucher(`${shop.origin}/other`)).status).toBe(403)
  })

  test('opens the answer again where it was lost after it was kept', async () => {
    const payer = openPayer(8)
    await payer.read(`${shop.origin}/read`)
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    const gate = Promise.withResolvers<void>()
    const leaving = new AbortController()
    shop.reads.waitsFor = gate.promise
    const lost = voucher(`${shop.origin}/read`, { signal: leaving.signal })
    await expect.poll(() => shop.reads.count).toBe(2)
    leaving.abort()
    await lost.catch(() => {})
    gate.resolve()
    shop.reads.waitsFor = null
    await expect.poll(async () => (await voucher(`${other.origin}/read`)).status).toBe(200)
    expect(await findChannel(app, payer.manager.channelId ?? '')).toMatchObject({ spent: 2n * PRICE })
  })

  test('opens its answer five times more, and is charged once', async () => {
    const payer = openPayer(8)
    await payer.read(`${shop.origin}/read`)
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    const first = await voucher(`${shop.origin}/read`)
    expect(first.status).toBe(200)
    const receipt = first.headers.get('payment-receipt')
    for (const { origin } of [other, shop, other, shop, other]) {
      const again = await voucher(`${origin}/read`)
      expect([again.status, again.headers.get('payment-receipt')]).toEqual([200, receipt])
    }
    const over = await voucher(`${shop.origin}/read`)
    expect([over.status, over.headers.has('www-authenticate'), await over.json()]).toMatchObject([
      ...[402, true],
      { type: 'https://paymentauth.org/problems/session/insufficient-balance' },
    ])
    expect((await voucher(`${shop.origin}/other`)).status).toBe(403)
    expect(await findChannel(app, payer.manager.channelId ?? '')).toMatchObject({
      ...{ spent: 2n * PRICE, units: 2 },
    })
  })

  test('opens nothing once its payer has signed for more, and no stream again', async () => {
    const payer = openPayer(9)
    for (const path of ['/read', '/other', '/live']) {
      const answer = await payer.read(`${shop.origin}${path}`)
      expect(answer.status).toBe(200)
      await answer.body?.cancel()
    }
    const again = payer.sent.filter(({ headers }) => headers.has('authorization'))
    const streamed = async () => (await listPayments(app, 1))[0]
    await expect.poll(streamed).toMatchObject({ isAnswered: true, isHeld: false })
    expect(await Promise.all(again.map(async (request) => (await fetch(request)).status))).toEqual(
      again.map(() => 402),
    )
    expect(await findChannel(app, payer.manager.channelId ?? '')).toMatchObject({ spent: 3n * PRICE })
  })

  test('of a channel that is closed is told that it is gone', async () => {
    const payer = openPayer(9)
    await payer.read(`${shop.origin}/read`)
    const voucher = await payer.nextVoucher(`${shop.origin}/read`)
    await payer.manager.close()
    const answer = await voucher(`${shop.origin}/read`)
    expect([answer.status, await answer.json()]).toMatchObject([
      410,
      { type: 'https://paymentauth.org/problems/session/channel-finalized' },
    ])
  })
})

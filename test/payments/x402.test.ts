// Goal: x402 payments settle once, by exactly their price, and are answered (PAY-01, 03, 05, 06, 14).
// Method: a second chain with a token of our own, @x402/fetch as it is, the facilitator in process
// and one over HTTP that answers late, twice or never.

import { decodePaymentResponseHeader, decodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload } from '@x402/core/types'
import { toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { recheck } from '#payments/methods/recheck.ts'
import type { Facilitator } from '#payments/methods/x402/Facilitator.ts'
import { feesLeft } from '#rows/payments/fees.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { openAppStore } from '../support/appStore.ts'
import { dueNow } from './support/dueNow.ts'
import { hasty } from './support/hasty.ts'
import { startOddFacilitator } from './support/oddFacilitator.ts'
import {
  DOLLAR,
  lower,
  NETWORK,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
  x402Payer,
} from './support/secondChain.ts'
import { accountOf, openShop, PRICE, type Shop } from './support/shop.ts'
import { feeAccount, localFacilitator, x402Method, x402Parts } from './support/x402Method.ts'

const { app } = await openAppStore()
let chain: SecondChain
let key: `0x${string}`
let shop: Shop
let payees = 60
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startSecondChain()
  key = await chain.feePayer()
})
afterAll(() => chain?.stop())
beforeEach(async () => {
  recipient = lower(accountOf(payees++).address)
  shop = await open()
  return () => shop.close()
})

const FEES = 10n ** 17n
const facilitator = (perDay = FEES) => localFacilitator({ app, rpcUrl: chain.rpcUrl, key, perDay })

/** A server that sells by x402 beside charges. */
async function open(by: Facilitator = facilitator(), payee = recipient): Promise<Shop> {
  const { rpcUrl } = chain
  const x402 = await x402Method({ app, rpcUrl, facilitator: by, recipient: payee })
  return openShop({
    ...{ app, rpcUrl, chainId: SECOND_CHAIN, recipient: payee },
    methods: (charges) => [charges, x402],
  })
}
const received = () => chain.balanceOf(recipient)
const send = (path: string, credential: string, init: RequestInit = {}, { origin } = shop) =>
  fetch(`${origin}${path}`, { ...init, headers: { ...init.headers, 'payment-signature': credential } })
const rows = async () => (await listPayments(app, 1_000)).length

describe('a read past the quota', () => {
  test('is offered beside charges, below 8 KB and to other pages, and writes no row (PAY-14)', async () => {
    const before = await rows()
    const answer = await fetch(`${shop.origin}/read?key=secret`)
    expect(answer.status).toBe(402)
    expect(answer.headers.get('www-authenticate')?.match(/Payment /g)).toHaveLength(2)
    const header = answer.headers.get('payment-required') ?? ''
    const { accepts, resource } = JSON.parse(Buffer.from(header, 'base64').toString())
    expect(accepts).toEqual([
      expect.objectContaining({ scheme: 'exact', network: NETWORK, amount: `${PRICE}`, asset: DOLLAR }),
    ])
    expect(resource.url).toBe('https://shop.example/read')
    expect([...answer.headers].join().length).toBeLessThan(8_192)
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/PAYMENT-REQUIRED, PAYMENT-RESPONSE/)
    expect(await rows()).toBe(before)
  })

  test('is told by what the payer can pay by', async () => {
    const headers = { 'accept-payment': 'x402/exact' }
    const answer = await fetch(`${shop.origin}/read`, { headers })
    expect([answer.headers.has('payment-required'), answer.headers.has('www-authenticate')]).toEqual([
      true,
      false,
    ])
  })

  test("is paid by the library's client, by exactly its price", async () => {
    const payer = await chain.payer()
    const answer = await x402Payer(payer).fetch(`${shop.origin}/read`)
    expect([answer.status, await answer.json()]).toEqual([200, { count: 1 }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect([await received(), await chain.balanceOf(payer.address)]).toEqual([PRICE, 1_000_000n - PRICE])
    const [payment] = await listPayments(app, 1)
    const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')
    expect(receipt).toMatchObject({
      ...{ success: true, network: NETWORK, transaction: payment?.txHash, payer: lower(payer.address) },
    })
    expect(payment).toMatchObject({ state: 'settled', method: 'x402/exact', amount: PRICE, recipient })
    const entries = (await readBalances(app)).filter(({ currency }) => currency === DOLLAR)
    expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
  })

  test('costs nothing where it fails, and its credential pays for the next try', async () => {
    const credential = await credentialFor('/read')
    shop.reads.fails = true
    expect((await send('/read', credential)).status).toBe(503)
    expect(await received()).toBe(0n)
    shop.reads.fails = false
    expect((await send('/read', credential)).status).toBe(200)
    expect(await received()).toBe(PRICE)
  })
})

const credentialFor = async (path: string, init?: RequestInit): Promise<string> =>
  x402Payer(await chain.payer()).credentialFor(`${shop.origin}${path}`, init)

const json = (size: number): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({ size }),
  headers: { 'content-type': 'application/json' },
})

/** The same credential with something else in it. */
function changed(credential: string, change: (payload: PaymentPayload) => void): string {
  const payload = decodePaymentSignatureHeader(credential)
  change(payload)
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}
const authorizationOf = (payload: PaymentPayload) =>
  payload.payload['authorization'] as Record<string, string>

describe('one credential', () => {
  test('sent a hundred times at once, to two servers, settles once and is answered once (PAY-01)', async () => {
    const other = await open()
    const credential = await credentialFor('/read')
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => send('/read', credential, {}, index % 2 ? shop : other)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    // The others are told that it is spent, or to come back: never to pay again.
    expect(answers.filter(({ status }) => status === 403 || status === 503)).toHaveLength(99)
    for (const { headers } of answers) expect(headers.get('payment-required')).toBeNull()
    expect(await received()).toBe(PRICE)
    await other.close()
  })

  test('belongs to the first request it was sent with: it signs none itself (PAY-03)', async () => {
    const credential = await credentialFor('/order', json(1))
    expect((await send('/order', credential, json(1))).status).toBe(200)
    const moved = [
      await send('/order', credential, json(2)),
      await send('/read', credential),
      await send('/order', credential, json(10)),
    ]
    expect(moved.map(({ status }) => status)).toEqual([403, 403, 403])
    for (const { headers } of moved) expect(headers.get('payment-required')).toBeNull()
    expect([await received(), shop.reads.count]).toEqual([PRICE, 1])
  })

  test.each<[string, (payload: PaymentPayload) => void]>([
    ['another amount', (payload) => (authorizationOf(payload)['value'] = '499')],
    ['another payee', (payload) => (authorizationOf(payload)['to'] = accountOf(1).address)],
    ['another payer', (payload) => (authorizationOf(payload)['from'] = accountOf(1).address)],
    ['a later end', (payload) => (authorizationOf(payload)['validBefore'] = '99999999999')],
    ['a past end', (payload) => (authorizationOf(payload)['validBefore'] = '1700000000')],
    ['no authorization', (payload) => delete payload.payload['authorization']],
    [
      'a bad identifier',
      (payload) => (payload.extensions = { 'payment-identifier': { info: { id: 'short' } } }),
    ],
  ])('with %s is refused, and changes nothing', async (_, change) => {
    const before = await rows()
    const answer = await send('/read', changed(await credentialFor('/read'), change))
    expect([answer.status, answer.headers.has('payment-required')]).toEqual([402, true])
    expect(await answer.json()).toMatchObject({ status: 402, detail: expect.any(String) })
    expect([await received(), shop.reads.count, await rows()]).toEqual([0n, 0, before])
  })

  test('beside another payment, or twice, is refused', async () => {
    const credential = await credentialFor('/read')
    expect((await send('/read', `${credential}, ${credential}`)).status).toBe(400)
    const both = { authorization: `Payment ${Buffer.from('{}').toString('base64url')}` }
    expect((await send('/read', credential, { headers: both })).status).toBe(400)
    expect(shop.reads.count).toBe(0)
  })

  test('of a payer without money is refused', async () => {
    const poor = await chain.payer(PRICE - 1n)
    const credential = await x402Payer(poor).credentialFor(`${shop.origin}/read`)
    expect((await send('/read', credential)).status).toBe(402)
    expect([await received(), shop.reads.count]).toEqual([0n, 0])
  })
})

describe('fees', () => {
  const offered = async () => (await fetch(`${shop.origin}/read`)).headers.has('payment-required')
  /** Sells by the offer, at which somebody looks when it is doubted. */
  const openWatched = async (perDay: bigint) => {
    await shop.close()
    const by = { app, rpcUrl: chain.rpcUrl, recipient, facilitator: facilitator(perDay) }
    const { method, offer } = await x402Parts(by)
    const ending = new AbortController()
    const watching = recheck(offer, hasty, ending.signal)
    onTestFinished(async () => {
      ending.abort()
      await watching
    })
    const { rpcUrl } = chain
    shop = await openShop({
      ...{ app, rpcUrl, chainId: SECOND_CHAIN, recipient },
      methods: (charges) => [charges, method],
    })
    return offer
  }

  test('beyond those of a day are not paid: nothing is sent or taken, and it is offered no more', async () => {
    const before = await spentToday()
    expect((await send('/read', await credentialFor('/read'))).status).toBe(200)
    const cost = (await spentToday()) - before
    // Enough for one that is a little dearer than the last.
    const offer = await openWatched((await spentToday()) + (cost * 3n) / 2n)
    const credentials = [await credentialFor('/read'), await credentialFor('/read')]
    const statuses: number[] = []
    for (const credential of credentials) statuses.push((await send('/read', credential)).status)
    expect([statuses, await received()]).toEqual([[200, 402], 2n * PRICE])
    await expect.poll(offered).toBe(false)
    expect(offer.problems.join()).toContain('has paid the fees of a day')
  })

  test('that its account cannot pay take it out of the offers until it can', async () => {
    const offer = await openWatched(FEES)
    const fund = (wei: bigint) => chain.rpc.call('anvil_setBalance', privateKeyToAddress(key), toHex(wei))
    expect(await offered()).toBe(true)
    await fund(1n)
    await expect.poll(offered).toBe(false)
    expect(offer.problems.join()).toContain('has too little to pay fees with')
    await fund(10n ** 18n)
    await expect.poll(offered).toBe(true)
  })

  test('of payments in parallel are sent in turn', async () => {
    const credentials: string[] = []
    for (const _ of Array.from({ length: 8 })) credentials.push(await credentialFor('/read'))
    const answers = await Promise.all(credentials.map((credential) => send('/read', credential)))
    expect(answers.map(({ status }) => status)).toEqual(credentials.map(() => 200))
    expect(await received()).toBe(8n * PRICE)
  })

  const spentToday = async () => FEES - (await feesLeft(app, feeAccount(key, FEES)))
})

const reconciled = async () => {
  await dueNow(app)
  await shop.payments.reconcile()
  return (await listPayments(app, 1))[0]?.state
}
const unknown = async (credential: string) => {
  const answer = await send('/read', credential)
  expect([answer.status, answer.headers.get('payment-required')]).toEqual([503, null])
  expect(answer.headers.get('www-authenticate')).toBeNull()
  expect(await answer.json()).toMatchObject({ error: { code: 'settlement_pending' } })
}

describe('a facilitator', () => {
  let odd: Awaited<ReturnType<typeof startOddFacilitator>>
  beforeEach(async () => {
    odd = await startOddFacilitator(facilitator())
    await shop.close()
    shop = await open(odd.facilitator)
    return () => odd.close()
  })
  test.each(['well', 'deaf', 'denies', 'twice'] as const)(
    'that settles %s is paid through once, whatever it says',
    async (manner) => {
      odd.state.manner = manner
      const credential = await credentialFor('/read')
      const answer = await send('/read', credential)
      expect([answer.status, answer.headers.has('payment-response')]).toEqual([200, true])
      expect([await received(), odd.state.settles]).toEqual([PRICE, 1])
      expect((await send('/read', credential)).status).toBe(403)
    },
  )

  test('that is late is no new challenge, and the same credential opens the answer (PAY-05)', async () => {
    odd.state.manner = 'late'
    const credential = await credentialFor('/read')
    await unknown(credential)
    await unknown(credential)
    await odd.state.finish()
    const answer = await send('/read', credential)
    expect([answer.status, answer.headers.has('payment-response')]).toEqual([200, true])
    expect([await received(), odd.state.settles]).toEqual([PRICE, 1])
  })

  test('that settled meanwhile is found out by the chain, and the answer waits', async () => {
    odd.state.manner = 'late'
    const credential = await credentialFor('/read')
    await unknown(credential)
    await odd.state.finish()
    expect(await reconciled()).toBe('settled')
    expect((await send('/read', credential)).status).toBe(200)
    expect(await received()).toBe(PRICE)
  })

  test.each(['never', 'liar'] as const)('that settles %s is no payment', async (manner) => {
    odd.state.manner = manner
    const credential = await credentialFor('/read')
    await unknown(credential)
    expect(await reconciled()).toBe('sending')
    expect([await received(), odd.state.settles]).toEqual([0n, 1])
  })

  test('is believed to have failed where the payer took the authorization back', async () => {
    odd.state.manner = 'late'
    const payer = await chain.payer()
    const credential = await x402Payer(payer).credentialFor(`${shop.origin}/read`)
    await unknown(credential)
    const nonce = authorizationOf(decodePaymentSignatureHeader(credential))['nonce'] ?? ''
    await chain.cancel(payer, `0x${nonce.slice(2)}`)
    // A block that is not final may be taken back.
    expect(await reconciled()).toBe('sending')
    await chain.rpc.call('anvil_mine', '0x80', '0x0')
    expect(await reconciled()).toBe('failed')
    expect(await received()).toBe(0n)
  })
})

describe("a payer's own name for a payment", () => {
  const named = (credential: string, id: string) =>
    changed(credential, (payload) => {
      payload.extensions = { 'payment-identifier': { info: { required: false, id } } }
    })
  const id = 'order_0123456789abcdef'

  test('is answered again for another credential, which is not spent (PAY-04)', async () => {
    const payer = await chain.payer()
    const { credentialFor: sign } = x402Payer(payer)
    const url = `${shop.origin}/read`
    const first = await send('/read', named(await sign(url), id))
    const second = await send('/read', named(await sign(url), id))
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.headers.get('payment-response')).toBe(first.headers.get('payment-response'))
    expect(await received()).toBe(PRICE)
    // As often as a client may repeat itself, and not for ever.
    const more: number[] = []
    for (const _ of Array.from({ length: 5 }))
      more.push((await send('/read', named(await sign(url), id))).status)
    expect(more.at(-1)).toBe(403)
    expect(await received()).toBe(PRICE)
  })

  test('in parallel is paid once', async () => {
    const payer = await chain.payer()
    const { credentialFor: sign } = x402Payer(payer)
    const credentials = await Promise.all([1, 2, 3].map(() => sign(`${shop.origin}/read`)))
    const answers = await Promise.all(credentials.map((credential) => send('/read', named(credential, id))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await received()).toBe(PRICE)
  })

  test('for another request is a conflict, and another payer may use it', async () => {
    const payer = await chain.payer()
    const { credentialFor: sign } = x402Payer(payer)
    expect((await send('/read', named(await sign(`${shop.origin}/read`), id))).status).toBe(200)
    expect((await send('/other', named(await sign(`${shop.origin}/other`), id))).status).toBe(409)
    expect((await send('/other', named(await credentialFor('/other'), id))).status).toBe(200)
    expect(await received()).toBe(2n * PRICE)
  })
})

// Last: the chain's clock is ahead from here on.
test('an authorization that can be used no more has failed, and another is asked for', async () => {
  const odd = await startOddFacilitator(facilitator())
  await shop.close()
  shop = await open(odd.facilitator)
  odd.state.manner = 'never'
  const credential = await credentialFor('/read')
  await unknown(credential)
  // Past its end, and as many blocks more as make that final.
  await chain.rpc.call('anvil_mine', '0x80', '0x10')
  expect(await reconciled()).toBe('failed')
  const answer = await send('/read', credential)
  expect([answer.status, answer.headers.has('payment-required')]).toEqual([402, true])
  expect(await received()).toBe(0n)
  odd.close()
})

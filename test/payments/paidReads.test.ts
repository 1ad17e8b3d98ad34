// Goal: a request is paid for once, by exactly its price, and answered (PAY-01, 03, 05, 06, 12, 14).
// Method: a server over Postgres and a dev chain; payers are the clients of the payment library.
import { randomBytes, randomUUID } from 'node:crypto'
import { Credential } from 'mppx'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { requestDigest } from '#payments/requestDigest.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import {
  beginSending,
  claimPayment,
  findPayment,
  listPayments,
  type PaymentTerms,
} from '#rows/payments/payments.ts'
import { openSecrets } from '#rows/secrets.ts'
import { createLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { deaf } from './support/deaf.ts'
import { dueNow } from './support/dueNow.ts'
import { forgedOf } from './support/forged.ts'
import { countedOf } from './support/refused.ts'
import {
  ALPHA_USD,
  accountOf,
  balanceOf,
  chargesOf,
  openShop,
  PATH_USD,
  PRICE,
  payer,
  REALM,
  type Shop,
} from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let shop: Shop
let payees = 20
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
})
afterAll(() => chain?.remove())
beforeEach(async () => {
  recipient = lower(accountOf(payees++).address)
  shop = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient, key })
  return () => shop.close()
})

const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
const received = (token: `0x${string}` = PATH_USD) => balanceOf(chain.rpcUrl, token, recipient)
const pay = (index = 1) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })

/** A credential for the request, made and not sent. */
async function credentialFor(path: string, index = 1): Promise<string> {
  const client = pay(index)
  const refused = await client.rawFetch(`${shop.origin}${path}`)
  return client.createCredential(refused)
}
const send = (path: string, authorization: string, init: RequestInit = {}) =>
  fetch(`${shop.origin}${path}`, { ...init, headers: { ...init.headers, authorization } })

describe('a read past the quota', () => {
  test.each(['v1', 'v2'] as const)(
    'is not made for a key (%s) that the sender never gave, which counts as one refusal',
    async (version) => {
      const forged = await forgedOf(await credentialFor('/read', 3), accountOf(5).address, version)
      const caller = randomUUID()
      const sent = () => send('/read', forged, { headers: { 'x-caller': caller } })
      expect([(await sent()).status, (await sent()).status]).toEqual([503, 503])
      expect([shop.reads.count, await received(), await countedOf(app, caller)]).toEqual([0, 0n, 1])
    },
  )

  test('is offered in each currency, and writes no row', async () => {
    const before = (await listPayments(app, 100)).length
    const answer = await fetch(`${shop.origin}/read`)
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const offers = answer.headers.get('www-authenticate')?.match(/Payment /g)
    expect(offers).toHaveLength(2)
    expect(await answer.json()).toMatchObject({
      type: 'https://paymentauth.org/problems/payment-required',
      status: 402,
    })
    expect([shop.reads.count, (await listPayments(app, 100)).length]).toEqual([0, before])
  })

  test('is offered to each who asks at once by a challenge of its own', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${shop.origin}/read`)))
    const ids = answers.flatMap(({ headers }) =>
      [...(headers.get('www-authenticate') ?? '').matchAll(/Payment id="([^"]+)"/g)].map(([, id]) => id),
    )
    expect([ids.length, new Set(ids).size]).toEqual([80, 80])
  })

  test('is paid by exactly its price, with a receipt and entries', async () => {
    const before = await received()
    const answer = await pay().fetch(`${shop.origin}/read`)
    expect([answer.status, await answer.json()]).toEqual([200, { count: 1 }])
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.headers.get('etag')).toBeNull()
    expect((await received()) - before).toBe(PRICE)
    const [payment] = await listPayments(app, 1)
    const receipt = JSON.parse(
      Buffer.from(answer.headers.get('payment-receipt') ?? '', 'base64url').toString(),
    )
    expect(receipt).toMatchObject({ status: 'success', method: 'tempo', reference: payment?.txHash })
    await expect.poll(async () => (await listPayments(app, 1))[0]?.isAnswered).toBe(true)
    expect(payment).toMatchObject({ state: 'settled', amount: PRICE, recipient, currency: PATH_USD })
    const sums = Map.groupBy(await readBalances(app), ({ currency }) => currency)
    for (const [, entries] of sums) expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
  })

  test('is paid in another currency', async () => {
    const client = pay(2)
    const refused = await client.rawFetch(`${shop.origin}/read`)
    const { challenges } = await client.preparePayment(refused)
    expect(challenges.map(({ request }) => request['currency'])).toEqual([PATH_USD, ALPHA_USD])
    const chosen = await client.preparePayment(refused, { orderChallenges: (found) => found.toReversed() })
    const before = await received(ALPHA_USD)
    const answer = await send('/read', await chosen.createCredential())
    expect([answer.status, (await received(ALPHA_USD)) - before]).toEqual([200, PRICE])
  })

  test('costs nothing where it fails, and its credential pays for the next try', async () => {
    const credential = await credentialFor('/read')
    const before = await received()
    shop.reads.fails = true
    expect((await send('/read', credential)).status).toBe(503)
    expect(await received()).toBe(before)
    shop.reads.fails = false
    expect((await send('/read', credential)).status).toBe(200)
    expect((await received()) - before).toBe(PRICE)
  })
})

describe('a payer', () => {
  test('whose equal charges are sent in parallel has each of them settled, and answered', async () => {
    const credentials = await Promise.all(Array.from({ length: 8 }, () => credentialFor('/read')))
    const before = await received()
    const answers = await Promise.all(credentials.map((credential) => send('/read', credential)))
    expect(answers.map(({ status }) => status)).toEqual(credentials.map(() => 200))
    const receipts = answers.map(({ headers }) => headers.get('payment-receipt'))
    expect(new Set(receipts).size).toBe(8)
    expect((await received()) - before).toBe(8n * PRICE)
  })

  test('finds neither credential nor receipt nor key in logs, answers of others or rows (PAY-12)', async () => {
    const lines: string[] = []
    const log = createLogger('trace', { write: (line) => lines.push(line) })
    await shop.close()
    shop = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient, key, log })
    const credential = await credentialFor('/read')
    const [moved, paid, again] = [
      await send('/other', credential),
      await send('/read', credential),
      await send('/read', credential),
    ]
    expect([moved.status, paid.status, again.status]).toEqual([402, 200, 403])
    const receipt = paid.headers.get('payment-receipt') ?? ''
    // The signed transaction could be spent by anyone who reads it.
    const { payload } = Credential.deserialize<{ signature: string }>(credential)
    const secrets = [credential.slice('Payment '.length), payload.signature, key.toString('hex')]
    const told = [...lines, await moved.text(), await again.text()].join('\n')
    for (const secret of [...secrets, receipt]) expect(told).not.toContain(secret)
    const rows = await app.selectFrom('app.payments').selectAll().execute()
    const stored = JSON.stringify(rows, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('hex') : value,
    )
    for (const secret of secrets) expect(stored).not.toContain(secret.replace(/^0x/, ''))
  })
})

test('a challenge from before a rotation of its key is paid after it, until the overlap is over', async () => {
  const secrets = await openSecrets(app, [])
  const charges = chargesOf({ rpcUrl: chain.rpcUrl, chainId, recipient }, key)
  const follow = async () => charges.use(await secrets.keys('payments'))
  const superseded = (minutes: number) =>
    app
      .updateTable('app.secrets')
      .set({ superseded_at: new Date(Date.now() - minutes * 60_000) })
      .where('name', '=', 'payments')
      .where('version', '=', 1)
      .execute()
  await follow()
  await shop.close()
  shop = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient, methods: () => [charges] })
  const [first, second] = [await credentialFor('/read'), await credentialFor('/read')]
  await secrets.rotate()
  await superseded(2)
  await follow()
  expect((await send('/read', first)).status).toBe(200)
  await superseded(20)
  await follow()
  expect((await send('/read', second)).status).toBe(402)
  expect((await send('/read', await credentialFor('/read'))).status).toBe(200)
})

describe('one credential', () => {
  test('sent a hundred times at once, to two servers, settles once and is answered once (PAY-01)', async () => {
    const other = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient, key })
    const credential = await credentialFor('/read')
    const before = await received()
    const origins = Array.from({ length: 100 }, (_, index) => (index % 2 ? shop : other).origin)
    const answers = await Promise.all(
      origins.map((origin) => fetch(`${origin}/read`, { headers: { authorization: credential } })),
    )
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect(statuses.get(200)).toHaveLength(1)
    // The others are told that it is spent, or to come back: never to pay again.
    expect(answers.filter(({ status }) => status === 403 || status === 503)).toHaveLength(99)
    for (const { headers } of answers) expect(headers.get('www-authenticate')).toBeNull()
    expect((await received()) - before).toBe(PRICE)
    await other.close()
  })

  test('pays for nothing else (PAY-03)', async () => {
    const credential = await credentialFor('/read')
    const before = await received()
    const moved = await Promise.all([
      send('/other', credential),
      send('/read?x=1', credential),
      send('/read', credential, { method: 'HEAD' }),
      send('/read', `${credential.slice(0, -8)}AAAAAAAA`),
    ])
    for (const { status } of moved) expect([400, 402]).toContain(status)
    expect([await received(), shop.reads.count]).toEqual([before, 0])
    expect((await send('/read', credential)).status).toBe(200)
    expect((await send('/other', credential)).status).toBe(403)
    expect((await received()) - before).toBe(PRICE)
  })

  test('opens the answer again where it was lost after it was paid', async () => {
    const credential = await credentialFor('/read')
    const before = await received()
    const gate = Promise.withResolvers<void>()
    const leaving = new AbortController()
    shop.reads.waitsFor = gate.promise
    const lost = send('/read', credential, { signal: leaving.signal })
    await expect.poll(() => shop.reads.count).toBe(1)
    leaving.abort()
    await lost.catch(() => {})
    gate.resolve()
    shop.reads.waitsFor = null
    await expect.poll(async () => (await send('/read', credential)).status).toBe(200)
    expect((await received()) - before).toBe(PRICE)
    expect((await send('/read', credential)).status).toBe(403)
  })

  test('is free again at once if its client left before it was claimed', async () => {
    const credential = await credentialFor('/read')
    const checking = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    await shop.close()
    shop = await openShop({
      ...{ app, rpcUrl: chain.rpcUrl, chainId, recipient, key },
      methods: (charges) => {
        const { check } = charges
        charges.check = async (...given) => {
          checking.resolve()
          await gate.promise
          return check.apply(charges, given)
        }
        return [charges]
      },
    })
    const leaving = new AbortController()
    const left = send('/read', credential, { signal: leaving.signal })
    await checking.promise
    leaving.abort()
    await expect(left).rejects.toThrow()
    // Answered after the server has seen the other one leave.
    await fetch(`${shop.origin}/nothing`)
    gate.resolve()
    expect((await send('/read', credential)).status).toBe(200)
    expect(await received()).toBe(PRICE)
  })

  test('of HEAD has nothing to pay for', async () => {
    const credential = await credentialFor('/read')
    const asked = await fetch(`${shop.origin}/read`, { method: 'HEAD' })
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([429, null])
    expect((await send('/read', credential, { method: 'HEAD' })).status).toBe(400)
    expect((await send('/read', credential)).status).toBe(200)
  })

  test('two in one request are refused', async () => {
    const credential = await credentialFor('/read')
    expect((await send('/read', `${credential}, ${credential}`)).status).toBe(400)
    expect(shop.reads.count).toBe(0)
  })

  test('of a payer without money is challenged anew, and nothing is kept', async () => {
    const poor = payer(accountOf(4_000), { rpcUrl: chain.rpcUrl, chainId })
    const before = (await listPayments(app, 1_000)).length
    await poor.fetch(`${shop.origin}/read`).then(
      ({ status }) => expect(status).toBe(402),
      () => {},
    )
    expect([await received(), (await listPayments(app, 1_000)).length]).toEqual([0n, before])
  })
})

describe('an outcome that is not known', () => {
  const openDeaf = async (times: number) => {
    await shop.close()
    shop = await openShop({
      app,
      rpcUrl: chain.rpcUrl,
      chainId,
      recipient,
      key,
      methods: (charges) => [deaf(charges, times)],
    })
  }

  test('is no new challenge, and the same credential opens the answer (PAY-05)', async () => {
    await openDeaf(2)
    const credential = await credentialFor('/read')
    const before = await received()
    for (const _ of [1, 2]) {
      const answer = await send('/read', credential)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([503, null])
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(await answer.json()).toMatchObject({ error: { code: 'settlement_pending' } })
    }
    const answer = await send('/read', credential)
    expect([answer.status, answer.headers.has('payment-receipt')]).toEqual([200, true])
    expect((await received()) - before).toBe(PRICE)
    expect((await send('/read', credential)).status).toBe(403)
  })

  test('is found out without its payer, whose answer waits', async () => {
    await openDeaf(1)
    const credential = await credentialFor('/read')
    expect((await send('/read', credential)).status).toBe(503)
    await shop.payments.reconcile()
    expect((await listPayments(app, 1))[0]).toMatchObject({ state: 'settled', isAnswered: false, recipient })
    expect((await send('/read', credential)).status).toBe(200)
    expect(await received()).toBe(PRICE)
  })

  test('of what was claimed and never sent is given back', async () => {
    const credential = await credentialFor('/read')
    const price = await terms('/read', credential)
    const claimed = await claimPayment(app, price, Date.now(), 0)
    expect(claimed?.state).toBe('claimed')
    await shop.payments.reconcile()
    expect(await findPayment(app, price)).toBeNull()
    expect((await send('/read', credential)).status).toBe(200)
    expect(await received()).toBe(PRICE)
  })

  test('of what was never sent is a failure once it can be mined no more', async () => {
    const credential = await credentialFor('/read')
    const price = await terms('/read', credential)
    const claimed = await claimPayment(app, price, Date.now(), 0)
    if (!claimed) throw new Error('the payment was claimed before')
    // A process that died here may have sent it, or not.
    expect(await beginSending(app, claimed, 0)).toBe(true)
    await shop.payments.reconcile()
    expect((await findPayment(app, price))?.state).toBe('sending')
    const rpc = new DevRpc(chain.rpcUrl)
    // Past the end of its validity, and as many blocks more as make that final.
    await rpc.call('anvil_mine', '0x80', '0x1')
    await expect
      .poll(async () => {
        await dueNow(app)
        await shop.payments.reconcile()
        return (await findPayment(app, price))?.state
      })
      .toBe('failed')
    const answer = await send('/read', credential)
    expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([402, true])
    expect([await received(), shop.reads.count]).toEqual([0n, 0])
  })

  /** The terms that another process would claim for the request. */
  async function terms(path: string, credential: string): Promise<PaymentTerms> {
    const charges = chargesOf({ rpcUrl: chain.rpcUrl, chainId, recipient }, key)
    const digest = requestDigest(REALM, { method: 'GET', url: path, body: undefined })
    const price = { digest, dollars: '0.0005', units: 1, description: '1 of data:read', meta: {} }
    const checked = await charges.check(credential, price)
    return { ...checked, requestDigest: digest, scope: 'data:read', method: charges.name }
  }
})

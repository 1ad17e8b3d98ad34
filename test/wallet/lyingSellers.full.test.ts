// Goal: a seller that lies, breaks off or sends without end gets what was quoted, once, or nothing
// (PAY-05, PAY-08, PAY-10, PAY-12).
// Method: sellers that take real payments by the library's server on a dev chain, and then misbehave.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DevRpc, hexQuantity } from '#local/devchain/DevRpc.ts'
import { address } from '#primitives.ts'
import { findSpend } from '#rows/jobs/spends.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import type { Logger } from '#telemetry.ts'
import { Spender } from '#wallet/spend/Spender.ts'
import { ALPHA_USD, accountOf, balanceOf, keyOf, PATH_USD } from '../payments/support/shop.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { openPaidSeller, type PaidSeller } from './support/paidSeller.ts'
import { openWallet, purchaseOf, type TestWallet } from './support/wallet.ts'

const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let seller: PaidSeller
let wallet: TestWallet
let payee: `0x${string}`
let payees = 40
const ends: (() => Promise<void>)[] = []
const logged: string[] = []
const writeDown = (fields: object, message: string) =>
  void logged.push(`${message} ${JSON.stringify(fields)}`)
const log: Logger = { debug: writeDown, info: writeDown, warn: writeDown, error: writeDown }
const { signal } = new AbortController()

beforeAll(async () => {
  chain = await startMiningDevChain(1337)
})
beforeEach(async () => {
  payee = address(accountOf(payees++).address)
  seller = await openPaidSeller(chain, payee, (end) => ends.push(end))
  wallet = await openWallet({ app, chain, account: accountOf(1), origins: [seller.origin], log })
})
afterAll(async () => {
  for (const end of ends) await end()
  await chain?.remove()
})

const earned = (token: `0x${string}` = PATH_USD) => balanceOf(chain.rpcUrl, token, payee)
const buy = (path: string, more: Parameters<typeof purchaseOf>[1] = {}) =>
  wallet.spender.buy(purchaseOf(`${seller.origin}${path}`, more), signal)
/** Seconds of the chain pass, in blocks that are final at the end. */
const pass = async (seconds: number) => {
  const rpc = new DevRpc(chain.rpcUrl)
  await rpc.call('anvil_mine', hexQuantity(8), hexQuantity(Math.ceil(seconds / 4)))
}

const nobodyElse = { mode: 'allowlist', recipients: [`0x${'99'.repeat(20)}`] } as const

test.each([
  ['more than was quoted', 'price_exceeded', { amount: '1.000001' }, undefined],
  ['another recipient than the catalog names', 'recipient_refused', {}, nobodyElse],
  ['a token that is not at par', 'offer_unpayable', { currency: ALPHA_USD }, undefined],
  ['money on a chain that the wallet does not pay on', 'offer_unpayable', { chainId: 4217 }, undefined],
] as const)('%s is refused before anything is reserved', async (_, code, terms, policy) => {
  seller.sell('/', terms, async (response) => void response.end('taken'))
  const recipientPolicy = policy && { ...policy, recipients: [...policy.recipients] }
  const purchase = purchaseOf(`${seller.origin}/`, recipientPolicy && { recipientPolicy })
  expect(await wallet.spender.buy(purchase, signal)).toMatchObject({ kind: 'refused', code })
  expect(seller.asked).toHaveLength(1)
  expect(await findSpend(app, purchase)).toBeNull()
})

test('a sponsored payment is found by its memo', async () => {
  seller.sell('/', { isSponsored: true }, async (response, take) => {
    response.writeHead((await take()) ? 200 : 402).end('done')
  })
  expect(await buy('/')).toMatchObject({ kind: 'answered', status: 200, paid: { amount: 10_000n } })
  expect(await earned()).toBe(10_000n)
})

test('an answer that was lost is asked for with the same payment', async () => {
  seller.sell('/', {}, async (response, take, times) => {
    const isFirst = await take()
    if (times === 1) response.destroy()
    else response.writeHead(isFirst ? 500 : 200).end('again')
  })
  const purchase = purchaseOf(`${seller.origin}/`)
  expect(await wallet.spender.buy(purchase, signal)).toMatchObject({ kind: 'unknown' })
  const again = await wallet.spender.buy(purchase, signal)
  expect(again).toMatchObject({ kind: 'answered', status: 200, paid: { units: 10_000n } })
  const [, first, second] = seller.asked
  expect(second?.headers.authorization).toBe(first?.headers.authorization)
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
  expect(await earned()).toBe(10_000n)
})

test('a seller that asks again after it was paid is paid once, and asked three times', async () => {
  seller.sell('/', {}, async (response, take) => {
    await take()
    response.writeHead(402).end()
  })
  const purchase = purchaseOf(`${seller.origin}/`)
  const kinds: string[] = []
  for (let turn = 0; turn < 4; turn++) kinds.push((await wallet.spender.buy(purchase, signal)).kind)
  expect(kinds).toEqual(['unknown', 'unknown', 'paid_not_delivered', 'paid_not_delivered'])
  expect(seller.asked).toHaveLength(4)
  expect(await earned()).toBe(10_000n)
})

test('a redirect is not followed, and a body without end is not taken', async () => {
  seller.sell('/away', {}, async (response, take) => {
    await take()
    response.writeHead(302, { location: `${seller.origin}/elsewhere` }).end()
  })
  expect(await buy('/away')).toMatchObject({ kind: 'answered', status: 302, paid: { amount: 10_000n } })
  expect(seller.asked.map(({ url }) => url)).not.toContain('/elsewhere')
  seller.sell('/endless', {}, async (response, take) => {
    await take()
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'.repeat(64 * 1_024)), 1)
    response.once('close', () => clearInterval(timer))
  })
  expect(await buy('/endless')).toMatchObject({ kind: 'paid_not_delivered', paid: { amount: 10_000n } })
})

test('what fails after it was paid is told with its payment', async () => {
  seller.sell('/', {}, async (response, take) => {
    await take()
    response.writeHead(500).end('broken')
  })
  expect(await buy('/')).toMatchObject({ kind: 'answered', status: 500, paid: { amount: 10_000n } })
})

test('two processes that go on with one purchase pay once', async () => {
  seller.sell('/', {}, async (response, take) => {
    response.writeHead((await take()) ? 200 : 402).end('done')
  })
  const purchase = purchaseOf(`${seller.origin}/`)
  const other = new Spender(wallet.options)
  const told = await Promise.all([wallet.spender, other].map((spender) => spender.buy(purchase, signal)))
  expect(told.some(({ kind }) => kind === 'answered' || kind === 'unknown')).toBe(true)
  expect(await wallet.spender.buy(purchase, signal)).toMatchObject({ kind: 'answered', status: 200 })
  expect(await earned()).toBe(10_000n)
})

test('what ends waits for the answer to what it paid for, keeps it, and pays for nothing more', async () => {
  const end = new AbortController()
  const seen: number[] = []
  seller.sell('/', {}, async (response, take) => {
    end.abort()
    seen.push(wallet.spender.paidCalls())
    response.writeHead((await take()) ? 200 : 402).end('late')
  })
  const purchase = purchaseOf(`${seller.origin}/`)
  const bought = await wallet.spender.buy(purchase, end.signal)
  expect(bought).toMatchObject({ kind: 'answered', status: 200, paid: { amount: 10_000n } })
  expect(await findSpend(app, purchase)).toMatchObject({ hasAnswer: true })
  expect([...seen, wallet.spender.paidCalls()]).toEqual([1, 0])
  // The process ends between the price and the payment, or while it signs.
  for (const last of [0, 1]) {
    let asked = 0
    const late = purchaseOf(`${seller.origin}/`, { mayPay: () => asked++ < last })
    expect(await wallet.spender.buy(late, signal)).toMatchObject({ kind: 'unknown' })
    expect((await findSpend(app, late))?.state).toBe(last === 0 ? undefined : 'void')
    const next = wallet.spender.buy({ ...late, mayPay: () => true }, signal)
    expect(await next).toMatchObject({ kind: 'answered', status: 200 })
  }
  expect(await earned()).toBe(30_000n)
})

test('a pause stops what is new, and what is open is finished', async () => {
  seller.sell('/', {}, async (response, take, times) => {
    const isTaken = await take()
    if (times === 1) response.destroy()
    else response.writeHead(isTaken ? 500 : 200).end('done')
  })
  const open = purchaseOf(`${seller.origin}/`)
  expect(await wallet.spender.buy(open, signal)).toMatchObject({ kind: 'unknown' })
  await pause(app, 'wallet', 'a look at the books')
  expect(await buy('/')).toMatchObject({ kind: 'refused', code: 'wallet_paused' })
  expect(await wallet.spender.buy(open, signal)).toMatchObject({ kind: 'answered', status: 200 })
  await resume(app, 'wallet')
})

test('neither rows nor logs hold a key or a payment', async () => {
  seller.sell('/', {}, async (response) => void response.destroy())
  const purchase = purchaseOf(`${seller.origin}/`)
  expect(await wallet.spender.buy(purchase, signal)).toMatchObject({ kind: 'unknown' })
  const credential = String(seller.asked.at(-1)?.headers.authorization).replace('Payment ', '')
  const signature = JSON.parse(Buffer.from(credential, 'base64url').toString()).payload.signature
  const rows = await Promise.all(
    (['app.spends', 'app.spend_answers', 'app.wallet', 'app.wallet_days'] as const).map((table) =>
      app.selectFrom(table).selectAll().execute(),
    ),
  )
  const kept = JSON.stringify(rows.flat(), (_, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('hex') + Buffer.from(value.data) : value,
  )
  for (const secret of [credential, signature.slice(2), keyOf(accountOf(1)).slice(2)])
    for (const text of [kept, logged.join()]) expect(text).not.toContain(secret)
})

test('what the seller did not take is void once it can be mined no more, and only then', async () => {
  seller.sell('/refused', {}, async (response) => void response.writeHead(402).end())
  // It delivers, and never sends the payment.
  seller.sell('/gift', {}, async (response) => void response.end('here'))
  const refused = purchaseOf(`${seller.origin}/refused`)
  const given = purchaseOf(`${seller.origin}/gift`)
  expect(await wallet.spender.buy(refused, signal)).toMatchObject({ kind: 'unknown' })
  const delivered = await wallet.spender.buy(given, signal)
  expect(delivered).toMatchObject({ kind: 'answered', status: 200, paid: { amount: 10_000n } })
  await wallet.reconciler.reconcile(0)
  expect(await findSpend(app, refused)).toMatchObject({ state: 'sending' })
  await pass(60)
  await wallet.reconciler.reconcile(0)
  expect(await findSpend(app, refused)).toMatchObject({ state: 'void', units: 0n, credential: null })
  expect(await findSpend(app, given)).toMatchObject({ state: 'void', units: 0n })
  expect(await wallet.spender.buy(refused, signal)).toMatchObject({ code: 'payment_rejected' })
  expect(await wallet.spender.buy(given, signal)).toMatchObject({ kind: 'answered', paid: null })
  // Its answer is the first attempt's: another one asks the seller anew, and signs nothing on a chain
  // whose clock is a minute ahead.
  const asked = seller.asked.length
  expect(await wallet.spender.buy({ ...given, attempt: 2 }, signal)).toMatchObject({ code: 'wallet_empty' })
  expect(seller.asked).toHaveLength(asked + 1)
  expect(await earned()).toBe(0n)
})

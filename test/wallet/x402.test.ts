// Goal: a seller that asks by x402 is paid once, and its token tells whether it was.
// Method: a seller with the library's facilitator, on a second chain whose dollar knows EIP-3009.
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { address } from '#primitives.ts'
import { findSpend } from '#rows/jobs/spends.ts'
import { resumeWallet } from '#rows/payments/pauses.ts'
import { X402ExactPaying } from '#wallet/protocols/X402ExactPaying.ts'
import { type Answer, openSeller, type Seller, x402 } from '../orchestrator/support/seller.ts'
import { DOLLAR, SECOND_CHAIN, type SecondChain, startSecondChain } from '../payments/support/secondChain.ts'
import { accountOf } from '../payments/support/shop.ts'
import { openAppStore } from '../support/appStore.ts'
import { clock } from '../support/devchain.ts'
import { forgetSpends, lookAnew } from './support/forgotten.ts'
import { openWallet, purchaseOf } from './support/wallet.ts'

const { app } = await openAppStore()
const payee = address(accountOf(3).address)
const extra = { name: 'USD Coin', version: '2' }
const offer = { amount: '10000', payTo: payee, asset: DOLLAR, maxTimeoutSeconds: 60, extra }
const asks = x402(offer, { resource: { url: 'http://seller.example/' } })
let second: SecondChain
let facilitator: LocalFacilitator
let seller: Seller
const ends: (() => Promise<void>)[] = []
const { signal } = new AbortController()

beforeAll(async () => {
  second = await startSecondChain()
  seller = await openSeller((end) => ends.push(end))
  const pending = new Map()
  facilitator = new LocalFacilitator({
    ...{ chainId: SECOND_CHAIN, key: await second.feePayer(), transport: http(second.rpcUrl) },
    fees: { inTurn: (work) => work(async () => {}), left: async () => 10n ** 18n },
    pending: {
      get: async (key) => pending.get(key) ?? null,
      set: async (key, value) => void pending.set(key, value),
      delete: async (key) => void pending.delete(key),
    },
  })
})
afterAll(async () => {
  for (const end of ends) await end()
  await second?.stop()
})

const settle = async (header: string): Promise<boolean> => {
  const payload = decodePaymentSignatureHeader(header)
  if ((await facilitator.verify(payload, payload.accepted)) !== null) return false
  return (await facilitator.settle(payload, payload.accepted)) !== 'unsent'
}

/** Asks for money, then does with the payment as it is told. */
const sells = (
  act: (settled: Promise<boolean>, response: Parameters<Answer>[1], times: number) => Promise<unknown>,
): Answer => {
  let times = 0
  return ({ headers }, response) => {
    const payment = headers['payment-signature']
    if (typeof payment !== 'string') response.writeHead(402, { 'payment-required': asks }).end()
    else void act(settle(payment), response, ++times)
  }
}

const walletOf = async (account: Awaited<ReturnType<SecondChain['payer']>>) => {
  const chains = [{ chainId: SECOND_CHAIN, endpoints: [http(second.rpcUrl, { retryCount: 0 })] }]
  const chain = { rpcUrl: second.rpcUrl, chainId: SECOND_CHAIN }
  const paying = [new X402ExactPaying({ account, chains, clock })]
  return openWallet({ ...{ app, chain, account, paying }, origins: [seller.origin] })
}

test('pays the price, and learns of it from the token', async () => {
  const account = await second.payer(50_000n)
  const { spender } = await walletOf(account)
  seller.on(
    '/',
    sells(async (settled, response) => response.writeHead((await settled) ? 200 : 402).end('done')),
  )
  const purchase = purchaseOf(`${seller.origin}/`)
  const bought = await spender.buy(purchase, signal)
  expect(bought).toMatchObject({ kind: 'answered', status: 200, paid: { amount: 10_000n, units: 10_000n } })
  expect(await second.balanceOf(account.address)).toBe(40_000n)
  const spend = await findSpend(app, purchase)
  expect(spend).toMatchObject({ state: 'settled', protocol: 'x402', credential: null })
  expect(spend?.txHash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(spend?.txHash).not.toBe(spend?.reference)
})

test('a lost answer is asked for with the same authorization', async () => {
  const account = await second.payer(50_000n)
  const { spender } = await walletOf(account)
  seller.on(
    '/lost',
    sells(async (settled, response, times) => {
      await settled
      if (times === 1) response.destroy()
      else response.end('again')
    }),
  )
  const purchase = purchaseOf(`${seller.origin}/lost`)
  expect(await spender.buy(purchase, signal)).toMatchObject({ kind: 'unknown' })
  expect(await spender.buy(purchase, signal)).toMatchObject({ kind: 'answered', status: 200 })
  expect(await second.balanceOf(account.address)).toBe(40_000n)
})

test('what the token has and the database has forgotten is not paid again', async () => {
  const account = await second.payer(50_000n)
  const { spender } = await walletOf(account)
  const look = () =>
    lookAnew(app, { rpcUrl: second.rpcUrl, chainId: SECOND_CHAIN, account, tokens: [address(DOLLAR)] })
  seller.on(
    '/forgotten',
    sells(async (settled, response) => response.writeHead((await settled) ? 200 : 402).end('done')),
  )
  await look()
  const purchase = purchaseOf(`${seller.origin}/forgotten`)
  const bought = await spender.buy(purchase, signal)
  await forgetSpends(app, purchase.jobId)
  await look()
  expect(await resumeWallet(app)).toBe(true)
  const paid = bought.kind === 'answered' ? bought.paid : null
  expect(await spender.buy(purchase, signal)).toMatchObject({ kind: 'paid_not_delivered', paid })
  expect(await second.balanceOf(account.address)).toBe(40_000n)
})

test('signs nothing that the wallet does not have', async () => {
  const { spender } = await walletOf(await second.payer(9_999n))
  seller.on(
    '/',
    sells(async (_, response) => response.end('taken')),
  )
  const asked = seller.asked.length
  expect(await spender.buy(purchaseOf(`${seller.origin}/`), signal)).toMatchObject({ code: 'wallet_empty' })
  expect(seller.asked.length - asked).toBe(1)
})

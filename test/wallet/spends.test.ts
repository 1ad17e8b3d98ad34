// Goal: a call of a seller is paid for once, by what was quoted and to whom the catalog names (PAY-08).
// Method: the shipped sellers, which check real payments, and sellers that lie, on a dev chain.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { sellingOn } from '#local/devchain/selling.ts'
import { type DemoSellers, startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { address } from '#primitives.ts'
import { readSpendsOf } from '#rows/jobs/spends.ts'
import { readWallet } from '#rows/jobs/wallet.ts'
import { readDay } from '#rows/jobs/walletDays.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { resumeWallet } from '#rows/payments/pauses.ts'
import { accountOf, balanceOf, PATH_USD } from '../payments/support/shop.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { forgetSpends, lookAnew } from './support/forgotten.ts'
import { openWallet, purchaseOf, type TestWallet } from './support/wallet.ts'

const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let demo: DemoSellers
let wallet: TestWallet
const { signal } = new AbortController()
beforeAll(async () => {
  chain = await startMiningDevChain(1337)
  demo = await startDemoSellers(sellingOn(chain))
  wallet = await openWallet({ app, chain, account: accountOf(1), origins: [demo.origin] })
})
afterAll(async () => {
  await demo?.close()
  await chain?.remove()
})

test('a paid call is answered, and costs its price', async () => {
  const { spender, account } = wallet
  const purchase = purchaseOf(`${demo.origin}/demo-moody/echo`, { body: '{"message":"hello"}' })
  const before = await balanceOf(chain.rpcUrl, PATH_USD, account.address)
  const bought = await spender.buy(purchase, signal)
  expect(bought).toMatchObject({ kind: 'answered', status: 200, paid: { amount: 1_000n, units: 1_000n } })
  expect(await balanceOf(chain.rpcUrl, PATH_USD, account.address)).toBe(before - 1_000n)
  const [spend] = await readSpendsOf(app, purchase.jobId)
  expect(spend).toMatchObject({ state: 'settled', credential: null, tries: 1 })
  // A job that died before it had the answer asks again.
  expect(await spender.buy(purchase, signal)).toEqual(bought)
  expect(await balanceOf(chain.rpcUrl, PATH_USD, account.address)).toBe(before - 1_000n)
})

test('the fee of a call is what the chain took, in the books and in the limits', async () => {
  const { spender, account } = wallet
  const purchase = purchaseOf(`${demo.origin}/demo-moody/echo`, { body: '{"message":"fee"}' })
  // The library pays the fee in whichever token it likes.
  const tokens = [0, 1, 2, 3].map((number) => address(`${PATH_USD.slice(0, -1)}${number}`))
  const balances = () => Promise.all(tokens.map((token) => balanceOf(chain.rpcUrl, token, account.address)))
  const booked = async () => {
    const entries = await readBalances(app)
    return tokens.map(
      (token) =>
        entries.find(({ account: name, currency }) => name === 'wallet' && currency === token)?.amount ?? 0n,
    )
  }
  const spentToday = async () => {
    const { day } = await readWallet(app)
    return (await readDay(app, day)).find(({ kind }) => kind === 'all')?.units ?? 0n
  }
  const [before, books, spent] = [await balances(), await booked(), await spentToday()]
  await spender.buy(purchase, signal)
  const lost = (await balances()).map((balance, place) => (before[place] ?? 0n) - balance)
  const [spend] = await readSpendsOf(app, purchase.jobId)
  const fees = (await booked()).map((balance, place) => (books[place] ?? 0n) - balance)
  // The seller's receipt is booked with its job.
  expect(fees.map((fee, place) => (tokens[place] === spend?.currency ? fee + 1_000n : fee))).toEqual(lost)
  const taken = lost.reduce((sum, each) => sum + each, -1_000n)
  expect(taken).toBeGreaterThan(0n)
  expect(spend?.units).toBe(1_000n + taken)
  expect(await spentToday()).toBe(spent + 1_000n + taken)
})

test('a call that a restored database has forgotten is not paid again', async () => {
  const { spender, account } = wallet
  const look = () => lookAnew(app, { ...chain, chainId: 1337, account, tokens: [PATH_USD] })
  const [forgotten, other] = [1, 2].map(() => purchaseOf(`${demo.origin}/demo-moody/echo`))
  if (!forgotten || !other) throw new Error('no purchase')
  await new DevRpc(chain.rpcUrl).call('anvil_mine', '0x8', '0x1')
  await look()
  const first = await spender.buy(forgotten, signal)
  const [spend] = await readSpendsOf(app, forgotten.jobId)
  await forgetSpends(app, forgotten.jobId)
  await look()
  expect(await spender.buy(other, signal)).toMatchObject({ kind: 'refused', code: 'wallet_paused' })
  expect(await resumeWallet(app)).toBe(true)
  const before = await balanceOf(chain.rpcUrl, PATH_USD, account.address)
  const paid = first.kind === 'answered' ? first.paid : null
  for (const _ of [1, 2])
    expect(await spender.buy(forgotten, signal)).toMatchObject({ kind: 'paid_not_delivered', paid })
  expect(await balanceOf(chain.rpcUrl, PATH_USD, account.address)).toBe(before)
  const [adopted] = await readSpendsOf(app, forgotten.jobId)
  expect(adopted).toMatchObject({ state: 'settled', txHash: spend?.txHash, units: spend?.units })
  // A call that the chain does not have is bought.
  expect(await spender.buy(other, signal)).toMatchObject({ kind: 'answered' })
})

test('36 calls at once are 36 payments', async () => {
  const { spender, account } = wallet
  const before = await balanceOf(chain.rpcUrl, PATH_USD, account.address)
  const bought = await Promise.all(
    Array.from({ length: 36 }, () => spender.buy(purchaseOf(`${demo.origin}/demo-moody/echo`), signal)),
  )
  expect(bought.map(({ kind }) => kind)).toEqual(Array(36).fill('answered'))
  expect(await balanceOf(chain.rpcUrl, PATH_USD, account.address)).toBe(before - 36_000n)
})

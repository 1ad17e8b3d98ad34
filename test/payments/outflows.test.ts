// Goal: a database that has forgotten payments is noticed before the next one, however it was restored; what
// rows explain stops nothing.
// Method: transfers out of an account of a dev chain, with and without rows, and marks that go back.
import { http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/devRpc.ts'
import { type Ask, askOf } from '#money/node.ts'
import { OutflowWatch } from '#money/OutflowWatch.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { outflowLedger } from '#rows/books/outflows.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { findPause, resumeWallet } from '#rows/payments/pauses.ts'
import { findPayout, finishPayout, keepSigned, type Payout, takePayouts } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../support/appStore.ts'
import { startTestDevChain } from '../support/devchain.ts'
import { accountOf, keyOf, PATH_USD } from './support/shop.ts'

const chainId = 1337
const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startTestDevChain>>
let rpc: DevRpc
beforeAll(async () => {
  chain = await startTestDevChain(chainId)
  rpc = new DevRpc(chain.rpcUrl)
})
afterAll(() => chain?.remove())
/** The dev chain's own have money. */
let accounts = 1
let account: ReturnType<typeof privateKeyToAccount>
let sender: PayoutChain
beforeEach(async () => {
  account = privateKeyToAccount(keyOf(accountOf(accounts++)))
  const { clock } = systemRuntime()
  sender = new PayoutChain({ chainId, account, nodes: [node()], feeTokens: [PATH_USD], clock })
  await resumeWallet(app)
})

const node = (): Ask => askOf(http(chain.rpcUrl))
const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
/** As each start of the program has it. */
const open = (ask: Ask = node()) => {
  const address = lower(account.address)
  const ledger = outflowLedger(app, chainId, address)
  return new OutflowWatch({ chainId, account: address, tokens: () => [PATH_USD], ask, ledger })
}
const finalize = () => rpc.call('anvil_mine', '0x8', '0x1')
const stopped = async () => [await findPause(app, 'wallet'), await findPause(app, 'payouts')].map(Boolean)
const to = lower(accountOf(900).address)
const terms = { kind: 'refund', chainId, currency: PATH_USD, amount: 7n, to } as const
/** Sends what no row knows of; in a final block. */
async function pay(payout: Pick<Payout, 'reference'>) {
  const sent = { ...terms, total: terms.amount, attempt: 0, ...payout }
  const signed = await sender.sign({ ...({} as Payout), ...sent })
  await sender.send(signed)
  await finalize()
  return signed
}

test('the first look of all knows what left before it', async () => {
  await pay({ reference: 'earlier' })
  const watch = open()
  expect(watch.hasLooked).toBe(false)
  await watch.look()
  expect([watch.hasLooked, ...(await stopped())]).toEqual([true, false, false])
})

test('what left and no row names stops wallet and payouts, once', async () => {
  await open().look()
  const { txHash } = await pay({ reference: 'forgotten' })
  await open().look()
  expect(await findPause(app, 'wallet')).toMatchObject({ reason: expect.stringContaining(txHash) })
  expect(await stopped()).toEqual([true, true])
  expect([await resumeWallet(app), ...(await stopped())]).toEqual([true, false, false])
  await finalize()
  await open().look()
  expect(await stopped()).toEqual([false, false])
})

test('what left while the program ran stops nothing, unless its mark goes back', async () => {
  const watch = open()
  await watch.look()
  await pay({ reference: 'by the operator' })
  await watch.look()
  expect(await stopped()).toEqual([false, false])
  await app
    .updateTable('app.outflow_marks')
    .set({ block: 0 })
    .where('account', '=', Buffer.from(account.address.slice(2), 'hex'))
    .execute()
  await watch.look()
  expect(await stopped()).toEqual([true, true])
})

test('a row explains it, by its transaction or as one that is being sent', async () => {
  await open().look()
  for (const reference of ['known', 'being sent']) {
    await app
      .transaction()
      .execute((transaction) => queuePayout(transaction, { ...terms, reference }, Date.now()))
    const held = (await takePayouts(app, chainId, 10, 0)).find((each) => each.reference === reference)
    if (!held) throw new Error('nothing is owed')
    const signed = await sender.sign(held)
    const isNamed = reference === 'known'
    const txHash = isNamed ? signed.txHash : (`0x${'ee'.repeat(32)}` as const)
    await keepSigned(app, held, { ...signed, txHash })
    await sender.send(signed)
    await finalize()
    const sent = await findPayout(app, 'refund', reference)
    if (!sent) throw new Error('the payout is gone')
    if (isNamed) await finishPayout(app, sent, { txHash, blockNumber: 1, fee: 0n, feeCurrency: PATH_USD })
  }
  await open().look()
  expect(await stopped()).toEqual([false, false])
})

test('a chain that does not answer is no chain that nothing left', async () => {
  const watch = open(() => Promise.reject(new Error('away')))
  await expect(watch.look()).rejects.toThrow('away')
  expect(watch.hasLooked).toBe(false)
})

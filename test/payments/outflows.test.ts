// Goal: a database that has forgotten payments is noticed before the next one, however it was restored,
// and pays no debt that the chain has paid; what rows explain stops nothing.
// Method: transfers out of an account of a dev chain, with and without rows, and marks that go back.
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { Actions } from 'viem/tempo'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { type Ask, askOf } from '#money/node.ts'
import { OutflowWatch } from '#money/OutflowWatch.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { settleByHand } from '#payments/payouts/paidElsewhere.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { outflowLedger } from '#rows/books/outflows.ts'
import { finishPayout, queuePayout } from '#rows/payments/debts.ts'
import { declareUnpaid } from '#rows/payments/forgotten.ts'
import { findPause, resumeWallet } from '#rows/payments/pauses.ts'
import { findPayout, keepSigned, type Payout, takePayouts } from '#rows/payments/payouts.ts'
import { countFindings } from '#rows/payments/proofs.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../support/appStore.ts'
import { startTestDevChain } from '../support/devchain.ts'
import { ageDebtsOf, insertSpends, payOutAll } from './support/forgottenRows.ts'
import { accountOf, balanceOf, keyOf, PATH_USD } from './support/shop.ts'

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
async function pay(payout: Pick<Payout, 'reference'> & Partial<Pick<Payout, 'total' | 'to'>>) {
  const sent = { ...terms, total: terms.amount, attempt: 0, ...payout }
  const signed = await sender.sign({ ...({} as Payout), ...sent }, null)
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
    const signed = await sender.sign(held, null)
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

test('a spend of the same amount to the same account explains its own transfer alone', async () => {
  await open().look()
  const { txHash } = await pay({ reference: 'forgotten beside a spend' })
  const { amount, currency } = terms
  await insertSpends(app, { chainId, amount, recipient: to, payer: lower(account.address), currency })
  await open().look()
  expect(await findPause(app, 'wallet')).toMatchObject({ reason: expect.stringContaining(txHash) })
})

const owe = (reference: string, amount: bigint = terms.amount, recipient = to) =>
  app
    .transaction()
    .execute((transaction) =>
      queuePayout(transaction, { ...terms, reference, amount, to: recipient }, Date.now()),
    )
const payOut = () => payOutAll(app, sender, finalize)
const received = (recipient = to) => balanceOf(chain.rpcUrl, PATH_USD, recipient)
const found = async (reference: string) => {
  const payout = await findPayout(app, 'refund', reference)
  return payout && { state: payout.state, txHash: payout.transaction?.txHash }
}
describe('what the chain has paid and the database has forgotten', () => {
  // Debts of tests before name transactions that no chain has.
  beforeEach(async () => {
    await app
      .updateTable('app.payouts')
      .set({ held_until: new Date(4_000_000_000_000) })
      .execute()
  })
  test('is not paid again: its debt has that transaction', async () => {
    const before = await received()
    await open().look()
    for (const [reference, amount] of [
      ['small 1', 2n],
      ['small 2', 3n],
      ['restored', terms.amount],
    ] as const)
      await owe(reference, amount)
    const sent = {
      restored: await pay({ reference: 'restored' }),
      again: await pay({ reference: 'made again' }),
      collected: await pay({ reference: 'small 3', total: 12n }),
    }
    await open().look()
    expect(await stopped()).toEqual([true, true])
    await resumeWallet(app)
    await payOut()
    expect(await found('restored')).toEqual({ state: 'paid', txHash: sent.restored.txHash })
    expect((await found('small 1'))?.state).toBe('queued')
    // Their jobs end once more.
    await owe('made again')
    await owe('small 3')
    await payOut()
    expect(await found('made again')).toEqual({ state: 'paid', txHash: sent.again.txHash })
    for (const number of [1, 2, 3])
      expect(await found(`small ${number}`)).toEqual({ state: 'paid', txHash: sent.collected.txHash })
    expect(await received()).toBe(before + 2n * terms.amount + 12n)
  })

  describe('with others, for a debt that never comes back', () => {
    const payer = lower(accountOf(901).address)
    const large = 1_000_000n
    const debt = (reference: string) => findPayout(app, 'refund', reference)
    test('may not be paid again: an operator says what it has paid', async () => {
      await open().look()
      for (const [reference, amount] of [
        ['part 1', 2n],
        ['part 2', 3n],
      ] as const)
        await owe(reference, amount, payer)
      const { txHash } = await pay({ reference: 'lost for good', total: 12n, to: payer })
      await open().look()
      await resumeWallet(app)
      await payOut()
      await ageDebtsOf(app, payer)
      await owe('later', 4n, payer)
      await payOut()
      await owe('large', large, payer)
      await payOut()
      expect(await countFindings(app, new Map())).toMatchObject({ waiting: 2 })
      for (const reference of ['part 1', 'part 2'])
        expect(await debt(reference)).toMatchObject({
          ...{ state: 'queued', attempt: 0, sentWith: null, problem: expect.stringContaining(txHash) },
        })
      expect(await debt('later')).toMatchObject({ state: 'paid', sentWith: (await debt('large'))?.id })
      expect(await received(payer)).toBe(12n + 4n + large)

      const idOf = async (reference: string) => (await debt(reference))?.id ?? ''
      const declared = [await declareUnpaid(app, await idOf('part 1'))]
      expect([...declared, await declareUnpaid(app, await idOf('large'))]).toEqual([true, false])
      await payOut()
      expect(await debt('part 1')).toMatchObject({ state: 'paid', sentWith: null })
      expect(await received(payer)).toBe(12n + 4n + large + 2n)

      const settle = async (reference: string) =>
        settleByHand(app, [node()], { id: await idOf(reference), txHash, chainId })
      for (const [reference, amount] of [
        ['part 3', 9n],
        ['part 4', 1n],
      ] as const)
        await owe(reference, amount, payer)
      await ageDebtsOf(app, payer)
      expect([await settle('part 2'), await settle('part 3')]).toEqual([null, null])
      expect(await debt('part 3')).toMatchObject({ state: 'paid', sentWith: await idOf('part 2') })
      // Nothing of it is left that could have paid another.
      expect(await settle('part 4')).toMatch(/moves no 1 units/)
      await payOut()
      expect(await debt('part 4')).toMatchObject({ state: 'paid', sentWith: null })
      expect(await received(payer)).toBe(12n + 4n + large + 3n)
      expect(await countFindings(app, new Map())).toMatchObject({ waiting: 0 })
      const differing = (await compareEntries(app, 1_000)).map(({ transactionId }) => transactionId)
      for (const reference of ['part 2', 'part 3']) expect(differing).not.toContain(await idOf(reference))
    })
  })

  test('nor if it was under way when the database was lost, and was mined after the first look', async () => {
    await open().look()
    await pay({ reference: 'noticed' })
    const watch = open()
    await watch.look()
    const { txHash } = await pay({ reference: 'late' })
    await watch.look()
    await resumeWallet(app)
    const before = await received()
    await owe('late')
    await payOut()
    expect(await found('late')).toEqual({ state: 'paid', txHash })
    expect(await received()).toBe(before)
  })
})

test('what was under way at a start stops them once a block has it, and what is no such thing does not', async () => {
  await open().look()
  const watch = open()
  await watch.look()
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(chain.rpcUrl) })
  await Actions.token.transfer(client, { token: PATH_USD, to, amount: 5n, feeToken: PATH_USD })
  await finalize()
  await watch.look()
  expect(await stopped()).toEqual([false, false])
  const { txHash } = await pay({ reference: 'under way at the start' })
  await watch.look()
  expect(await findPause(app, 'payouts')).toMatchObject({ reason: expect.stringContaining(txHash) })
  await resumeWallet(app)
  await watch.look()
  expect(await stopped()).toEqual([false, false])
  // Transactions signed before could be mined no more.
  await rpc.call('anvil_mine', '0x10', '0x80')
  await watch.look()
  await pay({ reference: 'signed while it ran' })
  await watch.look()
  expect(await stopped()).toEqual([false, false])
})

test('a chain that does not answer is no chain that nothing left', async () => {
  const watch = open(() => Promise.reject(new Error('away')))
  await expect(watch.look()).rejects.toThrow('away')
  expect(watch.hasLooked).toBe(false)
})

// Goal: what the service owes is paid once, by exactly its amount, whatever answers are lost; books
// move with it.
// Method: queued payouts over Postgres and a dev chain, through nodes that lose answers.
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { Actions, Transaction } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import type { Ask } from '#money/node.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { daysWithMoney, readMoneyOf } from '#rows/books/moneyByDay.ts'
import { withdrawPayout } from '#rows/payments/debts.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { countFindings } from '#rows/payments/proofs.ts'
import { AMOUNT, account, chainId, payoutBench } from './support/payoutBench.ts'
import { ALPHA_USD, accountOf, balanceOf, keyOf, PATH_USD } from './support/shop.ts'

const bench = await payoutBench()
const { app, node, open, queue, reward, stateOf, problemOf, received, turn, untilPaid, passTime } = bench

describe('a debt', () => {
  test('is paid once, when its block is final, with its entries', async () => {
    expect([await queue('once'), await queue('once')]).toEqual([true, false])
    const payouts = open()
    await turn(payouts)
    expect(await stateOf('once')).toBe('sending')
    await untilPaid(payouts, 'once')
    expect(await received()).toBe(AMOUNT)
    await turn(payouts)
    expect(await queue('once')).toBe(false)
    expect(await received()).toBe(AMOUNT)
    const entries = await readBalances(app)
    expect(entries).toContainEqual({
      account: `payer:${bench.to}`,
      chainId,
      currency: PATH_USD,
      amount: AMOUNT,
    })
    // The chain took a fee, from the same account.
    const fees = entries.filter(({ account: name }) => name === 'payee' || name === 'costs:fees')
    expect(fees.map(({ amount }) => amount > 0n)).toEqual([true, false])
    expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
  })

  test('of many at once, by two processes, is paid once each', async () => {
    const references = Array.from({ length: 24 }, (_, index) => `many ${index}`)
    for (const reference of references) await queue(reference)
    const both = [open(), open()]
    await Promise.all(both.map((payouts) => payouts.turn()))
    for (const reference of references) await untilPaid(open(), reference)
    expect(await received()).toBe(AMOUNT * 24n)
  })
})

test('a transaction that the chain refuses is paid for once in the books, and the debt by the next', async () => {
  const poor = accountOf(4)
  const balanceOfPoor = () => balanceOf(bench.rpcUrl, PATH_USD, poor.address)
  const client = createClient({
    account: poor,
    chain: { ...tempo, id: chainId },
    transport: http(bench.rpcUrl),
  })
  const amount = (await balanceOfPoor()) - 50_000n
  await Actions.token.transferSync(client, {
    token: PATH_USD,
    to: account.address,
    amount,
    feeToken: ALPHA_USD,
  })
  /** It tells balances of before. */
  const late: Ask = async (method, params) =>
    method === 'eth_call' ? `0x${(10n ** 12n).toString(16).padStart(64, '0')}` : node()(method, params)
  await queue('refused', 90_000n)
  const from = privateKeyToAccount(keyOf(poor))
  await expect
    .poll(async () => {
      await turn(open({ nodes: [late], from }))
      return problemOf('refused')
    })
    .toBe('the chain refused its last transaction')
  const lost = 50_000n - (await balanceOfPoor())
  const { id = '' } = (await findPayout(app, 'refund', 'refused')) ?? {}
  const booked = () =>
    app
      .selectFrom('app.ledger_entries')
      .select(['account', 'amount'])
      .where('transaction_id', 'like', `${id}/%`)
      .orderBy('account')
      .execute()
  const once = [
    { account: 'costs:fees', amount: `${lost}` },
    { account: 'payee', amount: `${-lost}` },
  ]
  expect([lost > 0n, await booked()]).toEqual([true, once])
  await untilPaid(open(), 'refused')
  expect([await received(), await booked()]).toEqual([90_000n, once])
  // Those of debts that nothing is owed for here are no fees.
  const fees = (await compareEntries(app, 1_000)).filter(
    ({ account: of }) => of === 'payee' || of === 'costs:fees',
  )
  expect(fees).toEqual([])
  const day = (await daysWithMoney(app))?.last ?? ''
  const lines = (await readMoneyOf(app, day)).filter(
    ({ kind, payer }) => kind === 'fee' && payer === bench.to,
  )
  expect(lines).toMatchObject([{ count: 2 }])
})

describe('an answer that is lost', () => {
  test('sends the same bytes again, and nothing twice', async () => {
    const sent: unknown[] = []
    const deaf: Ask = async (method, params) => {
      if (method !== 'eth_sendRawTransaction') return node()(method, params)
      sent.push(params[0])
      await node()(method, params)
      throw new Error('the connection was cut')
    }
    // As if it had not looked yet.
    const blind: Ask = async (method, params) =>
      method === 'eth_getTransactionReceipt' ? null : deaf(method, params)
    await queue('deaf')
    for (const _ of [1, 2, 3]) await turn(open({ nodes: [blind] }))
    expect(sent).toHaveLength(3)
    expect(new Set(sent).size).toBe(1)
    await untilPaid(open({ nodes: [deaf] }), 'deaf')
    expect([await received(), (await findPayout(app, 'refund', 'deaf'))?.attempt]).toEqual([AMOUNT, 1])
  })

  test('of what never arrived is signed anew once no block can have it', async () => {
    const lost: Ask = (method, params) =>
      method === 'eth_sendRawTransaction' ? Promise.reject(new Error('cut')) : node()(method, params)
    await queue('lost')
    await turn(open({ nodes: [lost] }))
    await turn(open({ nodes: [lost] }))
    expect(await findPayout(app, 'refund', 'lost')).toMatchObject({ state: 'sending', attempt: 1 })
    await passTime()
    const payouts = open()
    await untilPaid(payouts, 'lost')
    expect([await received(), (await findPayout(app, 'refund', 'lost'))?.attempt]).toEqual([AMOUNT, 2])
  })

  test('is not taken for absence where a node lags or is away', async () => {
    await queue('lagging')
    await turn(open())
    await passTime()
    const lagging: Ask = async (method, params) =>
      method === 'eth_getTransactionReceipt' ? null : node()(method, params)
    const away: Ask = () => Promise.reject(new Error('away'))
    for (const nodes of [[lagging, node()], [lagging, away], [away]]) await turn(open({ nodes }))
    expect(await findPayout(app, 'refund', 'lagging')).toMatchObject({ state: 'sending', attempt: 1 })
    await untilPaid(open({ nodes: [away, node()] }), 'lagging')
    expect(await received()).toBe(AMOUNT)
  })
})

describe('refunds of less than a transfer is stated to cost', () => {
  /** A transfer is stated to cost 8,400. */
  const priced: Ask = async (method, params) =>
    method === 'eth_gasPrice' ? '0x4a817c800' : node()(method, params)
  const SMALL = 4_000n
  const waiting = async () => (await countFindings(app, new Map())).waiting

  test('wait for each other, and are paid by one transfer', async () => {
    const payouts = open({ nodes: [priced] })
    for (const reference of ['small 1', 'small 2']) {
      await queue(reference, SMALL)
      await turn(payouts)
      expect(await stateOf(reference)).toBe('queued')
    }
    await app
      .updateTable('app.payouts')
      .set({ queued_at: new Date(Date.now() - 3_600_000) })
      .execute()
    expect(await waiting()).toBe(0)
    await queue('small 3', SMALL)
    await untilPaid(payouts, 'small 3')
    expect(await received()).toBe(3n * SMALL)
    const paid = await Promise.all([1, 2, 3].map((each) => findPayout(app, 'refund', `small ${each}`)))
    expect(paid.map((each) => each?.state)).toEqual(['paid', 'paid', 'paid'])
    expect(new Set(paid.map((each) => each?.transaction?.txHash)).size).toBe(1)
    const entries = await readBalances(app)
    expect(entries).toContainEqual({
      account: `payer:${bench.to}`,
      chainId,
      currency: PATH_USD,
      amount: 3n * SMALL,
    })
    await turn(payouts)
    expect(await received()).toBe(3n * SMALL)
  })

  test('go alone after a day, and are told when they do not', async () => {
    const payouts = open({ nodes: [priced] })
    await queue('alone', SMALL)
    await turn(payouts)
    expect(await stateOf('alone')).toBe('queued')
    await app
      .updateTable('app.payouts')
      .set({ collect_until: new Date(Date.now() - 3_600_000) })
      .where('reference', '=', 'alone')
      .execute()
    expect(await waiting()).toBe(1)
    await untilPaid(payouts, 'alone')
    expect(await received()).toBe(SMALL)
  })

  test('are one debt each where one is withdrawn', async () => {
    const payouts = open({ nodes: [priced] })
    await pause(app, 'payouts', 'a look at the books')
    for (const reference of ['kept', 'gone']) await queue(reference, SMALL)
    await resume(app, 'payouts')
    await turn(payouts)
    const withdrawn = await app
      .transaction()
      .execute((transaction) => withdrawPayout(transaction, 'refund', 'gone'))
    expect(withdrawn).toEqual({ withdrawn: SMALL, sent: 0n })
    await queue('more', AMOUNT)
    await untilPaid(payouts, 'more')
    expect(await received()).toBe(AMOUNT + SMALL)
    expect([await stateOf('kept'), await stateOf('gone')]).toEqual(['paid', undefined])
  })
})

describe('rewards that bring along less than their transfer costs', () => {
  /** A transfer costs 8,400, and 1,920 to an account that has some of the token. */
  const priced: Ask = async (method, params) =>
    method === 'eth_gasPrice' ? '0x4a817c800' : node()(method, params)
  /** And twice that. */
  const dear: Ask = async (method, params) =>
    method === 'eth_gasPrice' ? '0x9502f9000' : node()(method, params)
  const stateOfReward = async (reference: string) => (await findPayout(app, 'reward', reference))?.state
  /** The amount that its entries took from the rewards owed. */
  const tookOf = async (reference: string) => {
    const { id = '' } = (await findPayout(app, 'reward', reference)) ?? {}
    const found = app.selectFrom('app.ledger_entries').select('amount').where('transaction_id', '=', id)
    return (await found.where('account', '=', 'rewards').executeTakeFirst())?.amount
  }

  test('wait for each other as long as it takes, and are paid by one transfer', async () => {
    const payouts = open({ nodes: [priced] })
    for (const reference of ['reward 1', 'reward 2']) {
      await reward(reference, 500n, 3_000n)
      await turn(payouts)
    }
    await app
      .updateTable('app.payouts')
      .set({ queued_at: new Date(0), collect_until: new Date(0) })
      .where('reference', 'like', 'reward _')
      .execute()
    await turn(payouts)
    expect([await stateOfReward('reward 1'), await stateOfReward('reward 2')]).toEqual(['queued', 'queued'])
    await reward('reward 3', 500n, 2_400n)
    await expect
      .poll(async () => {
        await turn(payouts)
        return stateOfReward('reward 3')
      })
      .toBe('paid')
    expect([await received(), await stateOfReward('reward 1')]).toEqual([1_500n, 'paid'])
    expect([await tookOf('reward 1'), await tookOf('reward 3')]).toEqual(['-500', '-500'])
    // The account has the token now.
    await reward('reward 4', 500n, 1_920n)
    await turn(payouts)
    expect(await stateOfReward('reward 4')).toBe('sending')
  })

  test('go at a price that has risen by a fifth, for no more than they bring along', async () => {
    const costing = (price: bigint): Ask => {
      const ask = node()
      return async (method, params) =>
        method === 'eth_gasPrice' ? `0x${price.toString(16)}` : ask(method, params)
    }
    // The stated cost of a transfer at 20 gwei.
    await reward('risen', 500n, 8_400n)
    await turn(open({ nodes: [costing(24_000_000_001n)] }))
    expect(await stateOfReward('risen')).toBe('queued')
    await turn(open({ nodes: [costing(24_000_000_000n)] }))
    const sent = (await findPayout(app, 'reward', 'risen'))?.transaction
    if (!sent) throw new Error('nothing was signed')
    expect(Transaction.deserialize(sent.raw as `0x76${string}`).maxFeePerGas).toBe(24_000_000_000n)
  })

  test('go soon after the price has fallen, without another debt', async () => {
    await reward('held up', 500n, 8_400n)
    await turn(open({ nodes: [dear] }))
    expect(await stateOfReward('held up')).toBe('queued')
    // It is due again by itself.
    const payouts = open({ nodes: [priced] })
    await expect
      .poll(async () => {
        await payouts.turn()
        return stateOfReward('held up')
      })
      .toBe('paid')
  })

  test('are not signed anew at a price that they do not pay for', async () => {
    const lost: Ask = (method, params) =>
      method === 'eth_sendRawTransaction' ? Promise.reject(new Error('cut')) : priced(method, params)
    await reward('lost', 500n, 8_400n)
    await turn(open({ nodes: [lost] }))
    expect(await stateOfReward('lost')).toBe('sending')
    await passTime()
    for (const nodes of [[lost], [dear]]) {
      await turn(open({ nodes }))
      expect(await findPayout(app, 'reward', 'lost')).toMatchObject({ state: 'queued', attempt: 1 })
    }
    await turn(open({ nodes: [priced] }))
    expect(await stateOfReward('lost')).toBe('sending')
  })

  test('go with a refund, each out of its own account', async () => {
    const payouts = open({ nodes: [priced] })
    await reward('along', 500n, 1n)
    await turn(payouts)
    expect(await stateOfReward('along')).toBe('queued')
    await queue('with it')
    await untilPaid(payouts, 'with it')
    expect([await received(), await stateOfReward('along')]).toEqual([AMOUNT + 500n, 'paid'])
    expect(await tookOf('along')).toBe('-500')
  })
})

describe('a debt above the budget of a day', () => {
  const budget = 10_000_000n
  /** All that was sent until now was sent more than a day ago. */
  const passDay = () =>
    app
      .updateTable('app.payout_transactions')
      .set({ signed_at: new Date(Date.now() - 25 * 3_600_000) })
      .execute()

  test('is sent beside the others, one a day, and an operator is told', async () => {
    await passDay()
    await queue('large', budget + 1n)
    await turn(open({ budget }))
    await queue('larger', budget + 1n)
    await queue('small')
    await untilPaid(open({ budget }), 'large')
    await untilPaid(open({ budget }), 'small')
    expect([await stateOf('larger'), await problemOf('larger')]).toEqual([
      'queued',
      expect.stringMatching(/lets one debt above it go/),
    ])
    const large = async () => (await countFindings(app, new Map([[PATH_USD, budget]]))).large
    expect(await large()).toBe(2)
    await passDay()
    await untilPaid(open({ budget }), 'larger')
    expect(await received()).toBe(2n * (budget + 1n) + AMOUNT)
    await app
      .updateTable('app.payouts')
      .set({ paid_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('state', '=', 'paid')
      .execute()
    expect(await large()).toBe(0)
  })
})

describe('a debt waits, and says why', () => {
  test('beyond the budget of the day', async () => {
    await queue('first')
    await untilPaid(open(), 'first')
    await queue('dear', 1_000_000n)
    await turn(open())
    expect([await stateOf('dear'), await problemOf('dear')]).toEqual([
      'queued',
      expect.stringMatching(/budget/),
    ])
    await untilPaid(open({ budget: 10_000_000n }), 'dear')
  })

  test('while payouts are paused', async () => {
    await queue('paused')
    await pause(app, 'payouts', 'a look at the books')
    for (let turns = 0; turns < 3; turns++) await turn(open({ budget: 10_000_000n }))
    const paused = await findPayout(app, 'refund', 'paused')
    // A pause is no failure: those put the next try off, up to an hour.
    expect(paused).toMatchObject({ problem: 'payouts are paused: a look at the books', failures: 0 })
    expect([await resume(app, 'payouts'), await resume(app, 'payouts')]).toEqual([true, false])
    await untilPaid(open({ budget: 10_000_000n }), 'paused')
  })

  test('while the account has not enough', async () => {
    await queue('poor', 10n ** 20n)
    await turn(open({ budget: 10n ** 30n }))
    expect([await stateOf('poor'), await problemOf('poor')]).toEqual([
      'queued',
      expect.stringMatching(/token would not move it/),
    ])
  })
})

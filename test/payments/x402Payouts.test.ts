// Goal: what the service owes on the chain of x402 is paid there once, by exactly its amount, whatever
// answers are lost and whatever the database has forgotten; books move with it.
// Method: queued payouts over Postgres, a second chain with a token of our own, the facilitator in process
// and ones that lose, repeat or refuse.
import { type RawBuilder, sql } from 'kysely'
import { http, parseAbi } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { askOf } from '#money/node.ts'
import { checkBooks } from '#payments/books/checkBooks.ts'
import { checkNodeChain } from '#payments/books/nodeChain.ts'
import { Prover } from '#payments/books/Prover.ts'
import type { Facilitator } from '#payments/methods/x402/Facilitator.ts'
import { pendingPayouts } from '#payments/methods/x402/pendingSettlements.ts'
import { TokenChain } from '#payments/methods/x402/TokenChain.ts'
import { AuthorizationPayouts } from '#payments/payouts/AuthorizationPayouts.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import { UnsentDebts } from '#payments/payouts/UnsentDebts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { findUnbalanced, readBalances } from '#rows/payments/ledger.ts'
import { removeOldMarks } from '#rows/payments/marks.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { countFindings } from '#rows/payments/proofs.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { buy, CHARGED, claim, randomHex, settle } from '../orchestrator/jobs/support/boughtJobs.ts'
import { openEngine } from '../orchestrator/jobs/support/engine.ts'
import { openAppStore } from '../support/appStore.ts'
import { dueNow } from './support/dueNow.ts'
import { DOLLAR, lower, SECOND_CHAIN, type SecondChain, startSecondChain } from './support/secondChain.ts'
import { accountOf } from './support/shop.ts'
import { localFacilitator, x402Method } from './support/x402Method.ts'

const { app } = await openAppStore()
const AMOUNT = 500n
let chain: SecondChain
let key: `0x${string}`
let account: Awaited<ReturnType<SecondChain['payer']>>
let receivers = 8_000
let to: `0x${string}`
beforeAll(async () => {
  chain = await startSecondChain()
  key = await chain.feePayer()
  account = await chain.payer()
})
afterAll(() => chain?.stop())
beforeEach(() => {
  to = lower(accountOf(receivers++).address)
})

const local = () => localFacilitator({ app, rpcUrl: chain.rpcUrl, key, perDay: 10n ** 17n })
/** The one of this process, with some of its answers changed. */
const changed = (change: (facilitator: Facilitator) => Partial<Facilitator>): Facilitator => {
  const own = local()
  return {
    verify: (...asked) => own.verify(...asked),
    settle: (...asked) => own.settle(...asked),
    problem: (network) => own.problem(network),
    ...change(own),
  }
}

const { clock } = systemRuntime()
function open(facilitator: Facilitator = local(), from = account): Payouts {
  const transport = http(chain.rpcUrl)
  const of = { chainId: SECOND_CHAIN, asset: lower(DOLLAR) }
  return new Payouts({
    ...{ app, budgetOf: () => 10n ** 9n, mayPay: () => true },
    ...{ runtime: systemRuntime(), log: silentLogger },
    chain: new AuthorizationPayouts({
      ...{ ...of, account: from, facilitator, clock, nodes: [askOf(transport)] },
      chain: new TokenChain({ ...of, transport }),
      token: () => ({ decimals: 6, name: 'USD Coin', version: '2' }),
      pending: pendingPayouts(app),
    }),
  })
}

const queue = (reference: string, amount = AMOUNT) =>
  app
    .transaction()
    .execute((own) =>
      queuePayout(
        own,
        { kind: 'refund', reference, chainId: SECOND_CHAIN, currency: lower(DOLLAR), amount, to },
        Date.now(),
      ),
    )
const found = (reference: string) => findPayout(app, 'refund', reference)
const received = () => chain.balanceOf(to)
/** A debt that waits for its next try is due at once. */
const turn = async (payouts: Payouts) => {
  await dueNow(app)
  await payouts.turn()
}
const finalize = () => chain.rpc.call('anvil_mine', '0x80', '0x1')
/** No authorization that was signed until now can be used any more, and a final block says so. */
const outlive = () => chain.rpc.call('anvil_mine', '0x80', '0x8')
const untilPaid = async (payouts: Payouts, reference: string) => {
  await turn(payouts)
  await finalize()
  await turn(payouts)
  expect(await found(reference)).toMatchObject({ state: 'paid' })
}

test('a debt is paid once its block is final, and its books name the transaction', async () => {
  await queue('once')
  const payouts = open()
  await turn(payouts)
  expect(await received()).toBe(AMOUNT)
  await turn(payouts)
  expect((await found('once'))?.state).toBe('sending')
  await untilPaid(payouts, 'once')
  const txHash = (await found('once'))?.transaction?.txHash ?? '0x'
  const { logs } = await chain.client.getTransactionReceipt({ hash: `0x${txHash.slice(2)}` })
  expect(logs.some(({ address }) => lower(address) === lower(DOLLAR))).toBe(true)
  expect(await readBalances(app)).toContainEqual({
    ...{ account: `payer:${to}`, chainId: SECOND_CHAIN, currency: lower(DOLLAR), amount: AMOUNT },
  })
  expect(await findUnbalanced(app)).toEqual([])
})

test('many at once, by two processes, are paid once each', async () => {
  const references = Array.from({ length: 12 }, (_, index) => `many ${index}`)
  for (const reference of references) await queue(reference)
  await Promise.all([open(), open()].map((payouts) => payouts.turn()))
  await finalize()
  await turn(open())
  for (const reference of references) expect(await found(reference)).toMatchObject({ state: 'paid' })
  expect(await received()).toBe(AMOUNT * 12n)
})

test('an answer that is lost pays nothing twice', async () => {
  const sent: unknown[] = []
  const deaf = changed((own) => ({
    settle: async (payload, requirements) => {
      sent.push(payload.payload['signature'])
      await own.settle(payload, requirements)
      throw new Error('the connection was cut')
    },
  }))
  await queue('deaf')
  for (const _ of [1, 2, 3]) await turn(open(deaf))
  expect(new Set(sent).size).toBe(1)
  await untilPaid(open(deaf), 'deaf')
  expect([await received(), (await found('deaf'))?.attempt]).toEqual([AMOUNT, 1])
})

test('an authorization that nobody brought to the chain is signed anew once it has ended', async () => {
  const silent = changed(() => ({ settle: async () => ({ txHash: null }) }))
  await queue('silent')
  await turn(open(silent))
  await turn(open(silent))
  expect(await found('silent')).toMatchObject({ state: 'sending', attempt: 1 })
  await outlive()
  await turn(open(silent))
  expect(await found('silent')).toMatchObject({ state: 'queued', attempt: 1 })
  await untilPaid(open(), 'silent')
  expect([await received(), (await found('silent'))?.attempt]).toEqual([AMOUNT, 2])
})

test('a database that has forgotten a payment does not pay it again', async () => {
  await queue('forgotten')
  await untilPaid(open(), 'forgotten')
  const { id = '' } = (await found('forgotten')) ?? {}
  await app.deleteFrom('app.payout_transactions').where('payout_id', '=', id).execute()
  const owed = { state: 'queued', attempt: 0, paid_at: null, block_number: null }
  await app.updateTable('app.payouts').set(owed).where('id', '=', id).execute()
  const payouts = open()
  for (const _ of [1, 2, 3]) await turn(payouts)
  expect(await received()).toBe(AMOUNT)
})

test('a debt waits and says why: no money, a refusal, another token', async () => {
  await queue('poor')
  await turn(open(local(), await chain.payer(1n)))
  expect((await found('poor'))?.problem).toMatch(/has 1 units of 0x833589/)
  await turn(open(changed(() => ({ verify: async () => 'invalid_payer' }))))
  expect(await found('poor')).toMatchObject({
    state: 'queued',
    problem: expect.stringMatching(/invalid_payer/),
  })
  await app
    .updateTable('app.payouts')
    .set({ queued_at: new Date(Date.now() - 601_000) })
    .where('reference', '=', 'poor')
    .execute()
  expect((await countFindings(app, new Map())).waiting).toBe(1)
  await turn(open())
  expect(await found('poor')).toMatchObject({ state: 'sending' })
  expect((await countFindings(app, new Map())).waiting).toBe(0)
  await untilPaid(open(), 'poor')
  expect(await received()).toBe(AMOUNT)
})

test('a debt on a chain that nothing sends on says so, and is told', async () => {
  const terms = { kind: 'refund', reference: 'stray', currency: lower(DOLLAR), amount: AMOUNT, to } as const
  const queued = { ...terms, chainId: 4_999 }
  await app.transaction().execute((own) => queuePayout(own, queued, Date.now()))
  await queue('served')
  const debts = new UnsentDebts({ app, sendsOn: [SECOND_CHAIN], clock, log: silentLogger })
  await debts.look()
  expect(debts.notes).toEqual([expect.stringMatching(/^1 refunds and rewards are owed on chain 4999/)])
  expect([debts.late, (await found('stray'))?.problem]).toEqual([
    0,
    expect.stringMatching(/^nothing here sends on/),
  ])
  expect((await found('served'))?.problem).toBeNull()
  const before = { queued_at: new Date(Date.now() - 601_000) }
  await app.updateTable('app.payouts').set(before).where('reference', '=', 'stray').execute()
  await debts.look()
  expect(debts.late).toBe(1)
})

/** Each makes a row that the chain has otherwise. */
const changes = {
  'amount of a payment': sql`UPDATE app.payments SET amount = amount + 1`,
  'payer of a payment': sql`UPDATE app.payments SET payer = recipient`,
  'receiver of a payment': sql`UPDATE app.payments SET recipient = payer`,
  'currency of a payment': sql`UPDATE app.payments SET currency = payer`,
  'transaction of a payment': sql`UPDATE app.payments SET tx_hash = sha256('1')`,
  'amount of a refund': sql`UPDATE app.payouts SET amount = amount - 1`,
  'receiver of a refund': sql`UPDATE app.payouts SET recipient = decode(repeat('07', 20), 'hex')`,
  'transaction of a refund': sql`UPDATE app.payout_transactions SET tx_hash = sha256('3')`,
}

describe('books of a chain that is not indexed', () => {
  const node = () => askOf(http(chain.rpcUrl))
  const check = (all = false, own: AppDatabase = app) =>
    checkNodeChain(own, { chainId: SECOND_CHAIN, nodes: [node()] }, all)
  const clean = { differing: [], paidUnknown: [], received: { count: 0 }, left: { count: 0 }, open: 0 }
  const whole = { ...clean, unchecked: null }
  let payee: typeof account
  let paymentId: string
  /** Moves some of the dollar; the node has the key of the sender. */
  const transfer = async (receiver: `0x${string}`, amount: bigint) => {
    const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
    const hash = await chain.client.writeContract({
      ...{ address: DOLLAR, abi, functionName: 'transfer', args: [receiver, amount] },
    })
    await chain.mined(hash)
    return hash
  }
  const ofChain = () => ({
    ...{ method: 'x402/exact', chainId: SECOND_CHAIN, currency: lower(DOLLAR) },
    ...{ identity: `x402:${randomHex(32)}`, recipient: lower(payee.address) },
    payer: lower(chain.client.account.address),
  })
  /** A read that is paid for. */
  const pay = async (amount: bigint) => {
    const txHash = await transfer(payee.address, amount)
    const payment = await claim(app, { ...ofChain(), scope: 'data:read', amount, txHash })
    await settle(app, payment)
    return payment
  }
  /** A read that somebody pays, of which a part is refunded; an hour ago. */
  beforeAll(async () => {
    for (const table of ['app.payout_transactions', 'app.payouts'] as const)
      await app.deleteFrom(table).execute()
    payee = await chain.payer()
    const sender = chain.client.account.address
    await chain.client.writeContract({
      address: DOLLAR,
      abi: parseAbi(['function mint(address to, uint256 value)']),
      functionName: 'mint',
      args: [sender, 10_000n],
    })
    paymentId = (await pay(300n)).id
    to = lower(accountOf(7_999).address)
    await queue(paymentId, 100n)
    await untilPaid(open(local(), payee), paymentId)
    await app
      .updateTable('app.payments')
      .set({ settled_at: new Date(Date.now() - 3_600_000) })
      .execute()
    await app
      .updateTable('app.payouts')
      .set({ paid_at: new Date(Date.now() - 3_600_000) })
      .execute()
  })

  /** The findings after a change that is not kept. */
  async function foundAfter(change: RawBuilder<unknown>, all: boolean) {
    let found: Awaited<ReturnType<typeof check>> | null = null
    const work = app.transaction().execute(async (own) => {
      expect((await change.execute(own)).numAffectedRows).toBeGreaterThan(0n)
      found = await check(all, own)
      throw new RangeError('not kept')
    })
    await expect(work).rejects.toThrow('not kept')
    return found
  }
  test('are compared from the block that was checked last', async () => {
    expect(await check()).toMatchObject(whole)
    const again = await check()
    expect(again).toMatchObject(whole)
    const first = await check(true)
    expect(first).toMatchObject(whole)
    expect(again.blocks).toBeNull()
    await finalize()
    // However long ago that was.
    await app
      .updateTable('app.payment_marks')
      .set({ changed_at: new Date(0) })
      .execute()
    await removeOldMarks(app)
    expect((await check()).blocks?.from).toBe((first.blocks?.to ?? 0) + 1)
  })

  test.each(Object.entries(changes))('find another %s, before that block too', async (_, change) => {
    for (const all of [true, false])
      expect(await foundAfter(change, all)).toMatchObject({ differing: [{ id: expect.any(String) }] })
  })

  test('tell what no row names', async () => {
    expect(await foundAfter(sql`DELETE FROM app.payments`, false)).toMatchObject({
      differing: [{ id: 'chain 8453' }],
    })
    const forgotten = sql`WITH gone AS (DELETE FROM app.payout_transactions)
      UPDATE app.payouts SET state = 'queued', attempt = 0, paid_at = NULL, block_number = NULL`
    expect(await foundAfter(forgotten, true)).toMatchObject({
      paidUnknown: [{ id: (await found(paymentId))?.id }],
      left: { count: 1 },
    })
    await transfer(payee.address, 5n)
    await finalize()
    expect(await check()).toMatchObject({ ...whole, received: { count: 1, first: [{ amount: 5n }] } })
  })

  test('lose a payment that the chain takes back, and keep one that is final', async () => {
    const recipient = lower(payee.address)
    const method = await x402Method({ app, rpcUrl: chain.rpcUrl, facilitator: local(), recipient })
    const prover = new Prover({
      ...{ app, chain: { chainId: SECOND_CHAIN, index: null }, nodes: [node()], log: silentLogger },
      ...{ outcome: (payment) => method.outcome(payment), budgets: () => new Map() },
      clock: { ...clock, now: () => clock.now() + 3_600_000 },
    })
    const snapshot = await chain.rpc.call('evm_snapshot')
    const lost = await pay(40n)
    const txHash = await transfer(payee.address, CHARGED)
    const { payment, jobId } = await buy(app, { ...ofChain(), txHash })
    await chain.rpc.call('evm_revert', snapshot)
    await finalize()
    await prover.look()
    // It was queued, and begins nothing.
    const engine = openEngine(app, {})
    expect(await engine.ended(jobId)).toMatchObject({ state: 'cancelled' })
    expect([engine.sellers.calls, await findPayout(app, 'refund', payment.id)]).toEqual([[], null])
    const books = { indexed: [], others: [{ chainId: SECOND_CHAIN, nodes: [node()] }] }
    const { differences, rows, unbalanced, missent } = await checkBooks(app, books, true)
    const entries = differences.filter(({ transactionId }) => transactionId.includes(payment.id))
    const ofJob = rows.filter(({ id }) => id === jobId || id === payment.id)
    expect([entries, ofJob, unbalanced, missent]).toEqual([[], [], [], []])
    const proofs = await app.selectFrom('app.payments').select(['id', 'proof']).orderBy('amount').execute()
    expect(proofs).toEqual([
      { id: lost.id, proof: 'reversed' },
      { id: paymentId, proof: 'confirmed' },
      { id: payment.id, proof: 'reversed' },
    ])
    expect(await findUnbalanced(app)).toEqual([])
  })

  test('are not clean where nobody answers', async () => {
    const away = { chainId: SECOND_CHAIN, nodes: [async () => Promise.reject(new Error('away'))] }
    expect(await checkNodeChain(app, away)).toMatchObject({ unchecked: 'chain 8453: no node answers' })
    const { unchecked, unnamed } = await checkBooks(app, { indexed: [], others: [] })
    expect([unchecked, unnamed]).toEqual([[], [SECOND_CHAIN]])
  })
})

// Goal: books, payments and the indexed transfers agree to the unit, and whoever changes one unit of
// them is found; what was paid for nothing goes back to its payer,
// once, and not again where the database was restored.
// Method: reads paid on a dev chain whose final blocks are indexed beside it.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditBooks } from '#payments/books/audit.ts'
import { checkBooks } from '#payments/books/checkBooks.ts'
import { Uncollected } from '#payments/books/Uncollected.ts'
import { settleByHand } from '#payments/payouts/paidElsewhere.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { listLiabilities, queueRefund } from '#rows/payments/liabilities.ts'
import { resume } from '#rows/payments/pauses.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { noFindings } from '#rows/payments/proofs.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { ageAnswers, indexOf, payOutRefund, proverOf, restoreOwed } from './support/bookKeeping.ts'
import { type IndexedDevChain, startIndexedDevChain } from './support/indexed.ts'
import { accountOf, balanceOf, openShop, PATH_USD, PRICE, payer, type Shop } from './support/shop.ts'

const chainId = 1337
const { clock } = systemRuntime()
let chain: IndexedDevChain
let app: AppDatabase
let shop: Shop
let payees = 80
let recipient: `0x${string}`
beforeAll(async () => {
  chain = await startIndexedDevChain(chainId)
  app = appDatabase(chain.store.postgres)
})
afterAll(() => chain?.close())
beforeEach(async () => {
  for (const table of ['app.payments', 'app.payout_transactions', 'app.payouts'] as const)
    await app.deleteFrom(table).execute()
  await app.deleteFrom('app.ledger_entries').execute()
  recipient = lower(accountOf(payees++).address)
  shop = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient })
  return () => shop.close()
})

const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
const payerOf = (index: number) => payer(accountOf(index), chain)
const pay = async (index = 1) => expect((await payerOf(index).fetch(`${shop.origin}/read`)).status).toBe(200)
const rows = () => listPayments(app, 100)
/** The end of an answer is kept after it has left, and its payment let go after that. */
async function isNewestOver() {
  const [newest] = await rows()
  return newest?.isAnswered && !newest.isHeld
}
const reads = () => indexOf(chain)
const audit = () => auditBooks(app, [reads()])
const proverLater = (ms = 0) => proverOf({ app, chain, payments: shop.payments }, ms)
const proofs = async () => {
  const found = await app.selectFrom('app.payments').select(['proof', 'block_number']).execute()
  return found.map(({ proof }) => proof)
}
const final = async () => {
  await chain.makeFinal()
  await chain.catchUp()
}
const balance = async (account: string) => {
  const entries = (await readBalances(app)).filter((entry) => entry.account === account)
  return entries.reduce((sum, { amount }) => sum + amount, 0n)
}

describe('a settlement', () => {
  test('is confirmed by the indexed transfer once its block is final, and the audit is right', async () => {
    for (const index of [1, 2, 4]) await pay(index)
    const prover = proverLater()
    await prover.look()
    expect(await proofs()).toEqual([null, null, null])
    expect(await audit()).toMatchObject({ isRight: true, open: 3 })
    await final()
    await prover.look()
    expect(await proofs()).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect(await audit()).toMatchObject({
      ...{ isRight: true, open: 0, unbalanced: [], differing: [] },
      revenue: [{ account: 'revenue:data:read', ledger: 3n * PRICE, payments: 3n * PRICE }],
      received: [{ recipient, transfers: 3n * PRICE, payments: 3n * PRICE, others: { count: 0 } }],
    })
    expect(prover.findings).toEqual(noFindings)
  })

  test('that was held to have failed is owed to its payer', async () => {
    await pay()
    await app.deleteFrom('app.ledger_entries').execute()
    await app
      .updateTable('app.payments')
      .set({ state: 'failed', receipt: null, settled_at: null, answered_at: null })
      .execute()
    await final()
    await proverLater().look()
    expect(await listLiabilities(app, 10)).toMatchObject([{ amount: PRICE, refund: null }])
    expect([await balance('refunds'), await balance('revenue:data:read')]).toEqual([PRICE, 0n])
    expect(await audit()).toMatchObject({ isRight: true })
  })
})

describe('the audit finds one unit', () => {
  beforeEach(async () => {
    for (const index of [1, 2]) await pay(index)
    await final()
    await proverLater().look()
    expect(await audit()).toMatchObject({ isRight: true, open: 0 })
  })
  const first = async () => (await rows()).at(-1)?.id ?? ''

  test('of a payment', async () => {
    const id = await first()
    await app
      .updateTable('app.payments')
      .set({ amount: PRICE + 1n })
      .where('id', '=', id)
      .execute()
    expect(await audit()).toMatchObject({
      isRight: false,
      revenue: [{ ledger: 2n * PRICE, payments: 2n * PRICE + 1n }],
      differing: [{ payment: id }],
    })
  })

  test('of a payment and both of its entries', async () => {
    const id = await first()
    // Both sides at once: the ledger takes only what sums to 0 at the end of a transaction.
    await app.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('app.payments')
        .set({ amount: PRICE - 1n })
        .where('id', '=', id)
        .execute()
      await sql`UPDATE app.ledger_entries SET amount = sign(amount) * ${PRICE - 1n}::numeric WHERE transaction_id = ${id}`.execute(
        transaction,
      )
    })
    expect(await audit()).toMatchObject({
      ...{ isRight: false, unbalanced: [], differing: [{ payment: id }] },
      revenue: [{ ledger: 2n * PRICE - 1n, payments: 2n * PRICE - 1n }],
    })
  })

  test('of the ledger, where its trigger was off', async () => {
    const id = await first()
    const client = await chain.store.postgres.pool.connect()
    await client.query('SET session_replication_role = replica')
    await client.query(
      `UPDATE app.ledger_entries SET amount = amount + 1 WHERE transaction_id = $1 AND account LIKE 'revenue:%'`,
      [id],
    )
    await client.query('SET session_replication_role = DEFAULT')
    client.release()
    expect(await audit()).toMatchObject({ isRight: false, unbalanced: [id] })
  })

  test('of what came in beside payments, which it tells apart', async () => {
    await app
      .deleteFrom('app.payments')
      .where('id', '=', await first())
      .execute()
    expect(await audit()).toMatchObject({
      isRight: false,
      received: [{ transfers: PRICE, others: { count: 1, amount: PRICE } }],
    })
  })
})

const payOut = (paymentId: string) => payOutRefund({ app, chain, account: rich }, paymentId)
/** Can pay for the fee of a refund. */
let rich = accountOf(7)
async function sellAsRich(index: number) {
  rich = accountOf(index)
  await shop.close()
  shop = await openShop({ app, rpcUrl: chain.rpcUrl, chainId, recipient: lower(rich.address) })
}

describe('an answer that was never collected', () => {
  const uncollected = () => new Uncollected({ app, scopes: ['data:read'], clock, log: silentLogger })
  test('is owed a day later, opens no more, and is refunded once, to its payer alone', async () => {
    await sellAsRich(7)
    const client = payerOf(5)
    const credential = await client.createCredential(await client.rawFetch(`${shop.origin}/read`))
    const send = () => fetch(`${shop.origin}/read`, { headers: { authorization: credential } })
    expect((await send()).status).toBe(200)
    await expect.poll(isNewestOver).toBe(true)
    await ageAnswers(app, 23)
    expect(await uncollected().owe()).toBe(0)
    await ageAnswers(app, 25)
    expect([await uncollected().owe(), await uncollected().owe()]).toEqual([1, 0])
    expect((await send()).status).toBe(403)

    const [owed] = await listLiabilities(app, 10)
    const id = owed?.id ?? ''
    expect([await balance('refunds'), await balance('revenue:data:read')]).toEqual([PRICE, 0n])
    expect(await queueRefund(app, 'pay_of_nobody', Date.now())).toBe('not owed')
    const asked = await Promise.all([1, 2, 3].map(() => queueRefund(app, id, Date.now())))
    expect(asked.toSorted()).toEqual(['queued', 'queued before', 'queued before'])

    const before = await balanceOf(chain.rpcUrl, PATH_USD, accountOf(5).address)
    await expect.poll(() => payOut(id)).toBe('paid')
    expect((await balanceOf(chain.rpcUrl, PATH_USD, accountOf(5).address)) - before).toBe(PRICE)
    expect([await balance('refunds'), await balance(`payer:${lower(accountOf(5).address)}`)]).toEqual([
      0n,
      0n,
    ])
    expect(await listLiabilities(app, 10)).toMatchObject([{ refund: 'paid' }])

    await final()
    const check = () => checkBooks(app, { indexed: [reads()], others: [] })
    expect(await check()).toMatchObject({ isRight: true, rows: [], missent: [], unchecked: [] })
    const payout = (await findPayout(app, 'refund', id))?.id
    await sql`UPDATE app.ledger_entries SET amount = amount + sign(amount)
      WHERE transaction_id = ${payout} AND account IN ('costs:fees', 'payee')`.execute(app)
    expect(await check()).toMatchObject({
      ...{ isRight: false, differences: [], unbalanced: [] },
      missent: [{ id: payout }],
    })
    // A final block had it once, by its row.
    await sql`UPDATE app.payout_transactions SET tx_hash = sha256('1')`.execute(app)
    expect(await check()).toMatchObject({
      ...{ isRight: false, differences: [] },
      missent: [{ id: payout, problem: 'no final block has its transaction' }],
    })
  })
})

describe('a database that was restored', () => {
  test('pays nothing before the operator has settled what the chain knows', async () => {
    await sellAsRich(8)
    await pay(6)
    await expect.poll(isNewestOver).toBe(true)
    const payment = (await rows())[0]?.id ?? ''
    await app
      .updateTable('app.payments')
      .set({ answered_at: null, settled_at: new Date(0) })
      .execute()
    await new Uncollected({ app, scopes: ['data:read'], clock, log: silentLogger }).owe()
    expect(await queueRefund(app, payment, Date.now())).toBe('queued')
    await expect.poll(() => payOut(payment)).toBe('paid')
    const paid = await findPayout(app, 'refund', payment)
    const [id, txHash] = [paid?.id ?? '', paid?.transaction?.txHash ?? '']
    const received = () => balanceOf(chain.rpcUrl, PATH_USD, accountOf(6).address)
    const before = await received()
    await restoreOwed(app, id)

    for (const _ of [1, 2, 3]) expect(await payOut(payment)).toBe('queued')
    expect(await findPayout(app, 'refund', payment)).toMatchObject({
      problem: expect.stringMatching(/restored/),
    })
    await final()
    const check = () => checkBooks(app, { indexed: [reads()], others: [] })
    expect(await check()).toMatchObject({
      ...{ isRight: false, differences: [], paidUnknown: [{ id, txHash }] },
      left: [{ account: lower(rich.address), count: 1, amount: PRICE }],
    })
    expect(await settleByHand(app, [chain.node], { id, txHash, chainId })).toBeNull()
    expect(await check()).toMatchObject({ isRight: true, paidUnknown: [], left: [], missent: [] })
    await resume(app, 'payouts')
    expect(await payOut(payment)).toBe('paid')
    await final()
    expect((await received()) - before).toBe(0n)
  })
})

// The last: payers live by another clock than the chain from here on.
describe('a settlement that was mined', () => {
  test('and taken back by the chain is taken out of the books', async () => {
    await chain.takeBack(pay)
    await chain.passTime()
    await chain.catchUp()
    // Nodes are asked a minute later: the index may have been late.
    await proverLater().look()
    expect(await proofs()).toEqual([null])
    const prover = proverLater(120_000)
    await prover.look()
    expect(await proofs()).toEqual(['reversed'])
    expect([
      await balance('revenue:data:read'),
      await balance(`payer:${lower(accountOf(1).address)}`),
    ]).toEqual([0n, 0n])
    expect(prover.findings).toMatchObject({ reversed: 1 })
    expect(await audit()).toMatchObject({ isRight: true, open: 0 })
  })
})

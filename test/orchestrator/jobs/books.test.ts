// Goal: every entry of the ledger follows from the rows that the money moved with, and whoever changes
// one unit of either, takes an entry away or adds one is found.
// Method: each kind of movement is made as doors and workers make it, on a real database; then one
// row after the other is changed, compared and changed back.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { BooksWatch } from '#payments/books/BooksWatch.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { addCapture } from '#rows/payments/captures.ts'
import { queueRefund } from '#rows/payments/liabilities.ts'
import { failPayment } from '#rows/payments/payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { toBytes } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../../support/appStore.ts'
import { buy, claim, payOut, randomHex, reviewJob, settle } from './support/boughtJobs.ts'
import { openEngine } from './support/engine.ts'
import { payer } from './support/jobOrder.ts'
import { paidFor, type Sale, sold, token } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const unsold: Sale = {
  answer: () => ({ kind: 'refused', code: 'offer_unpayable', message: 'It is not for sale.' }),
}
const lost: Sale = {
  answer: (purchase) => ({
    ...{ kind: 'paid_not_delivered', status: null, message: 'The answer is lost.' },
    paid: paidFor(purchase, 900n),
  }),
}

async function ended(sale: Sale) {
  const bought = await buy(app)
  await openEngine(app, { '/a': sale }).ended(bought.jobId)
  return bought
}

/** A job that succeeded and whose review is rewarded. */
async function reviewed() {
  const bought = await ended(echo)
  await reviewJob(app, bought.jobId)
  return bought
}

/** A read whose settlement came after it was held to have failed. */
async function owed() {
  const payment = await claim(app, { scope: 'data:read' })
  await failPayment(app, payment)
  await settle(app, payment)
  return payment
}

const channelId = randomHex(32)
async function openChannel() {
  await sql`
    INSERT INTO app.channels SELECT (jsonb_populate_record(NULL::app.channels, ${JSON.stringify({
      ...{ id: bytes(channelId), chain_id: 1337, token: bytes(token), payer: bytes(payer), deposit: 500 },
      ...Object.fromEntries(
        ['escrow', 'payee', 'operator', 'salt', 'named_signer', 'signer', 'opening_hash'].map((name) => [
          name,
          bytes(randomHex(20)),
        ]),
      ),
      ...{ accepted: 300, spent: 300, settled: 0, units: 1, close_requested_at: 0, is_closed: false },
      ...Object.fromEntries(
        ['opened_at', 'used_at', 'looked_at'].map((name) => [name, new Date().toISOString()]),
      ),
    })}::jsonb)).*`.execute(app)
}
const bytes = (hex: string) => `\\x${hex.slice(2)}`

/** Every kind of movement, and what the chain took back of each. */
async function moveMoney() {
  await buy(app)
  await reviewed()
  await ended(lost)
  await payOut(app, 'reward', (await reviewed()).jobId)
  await ended(unsold)
  await payOut(app, 'refund', (await ended(unsold)).payment.id)
  for (const made of [buy(app), reviewed(), ended(unsold)]) await reversePayment(app, (await made).payment)
  const [rewarded, refunded] = [await reviewed(), await ended(unsold)]
  await payOut(app, 'reward', rewarded.jobId)
  await payOut(app, 'refund', refunded.payment.id)
  for (const { payment } of [rewarded, refunded]) await reversePayment(app, payment)

  await settle(app, await claim(app, { scope: 'data:read' }))
  await owed()
  for (const isSent of [true, false]) {
    const payment = await owed()
    await queueRefund(app, payment.id, Date.now())
    if (isSent) await payOut(app, 'refund', payment.id)
    await reversePayment(app, payment)
  }
  await openChannel()
  const ofChannel = {
    scope: 'data:read',
    method: 'tempo/session',
    identity: `${channelId}:300`,
    amount: 300n,
  }
  await settle(app, await claim(app, { ...ofChannel, txHash: null }))
  await app
    .transaction()
    .execute((transaction) =>
      addCapture(transaction, { id: channelId, chainId: 1337, settled: 300n, payer, token }, 300n),
    )
}

const compare = () => compareEntries(app, 1_000)
const differing = async () => new Set((await compare()).map(({ transactionId }) => transactionId))
const transactionIds = async () => {
  const rows = await app.selectFrom('app.ledger_entries').select('transaction_id').distinct().execute()
  return rows.map(({ transaction_id: id }) => id)
}

test('entries follow from their rows, of every kind', async () => {
  await moveMoney()
  expect(await compare()).toEqual([])
  const kindOf = (id: string) => id.replace(/(?:pay|out)_\w+|0x\w+(?::\d+)?|[\da-f-]{36}/g, '…')
  expect([...new Set((await transactionIds()).map(kindOf))].toSorted()).toEqual(
    [
      ...['cost:1337:…', 'job:…/closed', 'job:…/held', 'job:…/reversed', 'reward:…'],
      ...['…', '…/owed', '…/reversed'],
    ].toSorted(),
  )
})

describe('one unit is found', () => {
  test('of each transaction, on both of its sides', async () => {
    const ids = await transactionIds()
    expect(ids.length).toBeGreaterThan(60)
    for (const id of ids) {
      const entries = await app
        .selectFrom('app.ledger_entries')
        .select(['account', 'amount'])
        .where('transaction_id', '=', id)
        .where('account', 'not in', ['costs:fees', 'chain'])
        .orderBy('amount')
        .execute()
      const [from, to] = [entries.at(0), entries.at(-1)]
      const move = (units: bigint) =>
        app.transaction().execute(async (transaction) => {
          for (const [entry, sign] of [
            [from, -1n],
            [to, 1n],
          ] as const)
            await transaction
              .updateTable('app.ledger_entries')
              .set({ amount: BigInt(entry?.amount ?? 0) + sign * units })
              .where('transaction_id', '=', id)
              .where('account', '=', entry?.account ?? '')
              .execute()
        })
      await move(1n)
      expect(await differing(), id).toEqual(new Set([id]))
      await move(0n)
    }
    expect(await compare()).toEqual([])
  })

  test('of a transaction that is gone', async () => {
    for (const id of await transactionIds()) {
      const removed = await app
        .deleteFrom('app.ledger_entries')
        .where('transaction_id', '=', id)
        .returningAll()
        .execute()
      expect(await differing(), id).toEqual(new Set([id]))
      await app.insertInto('app.ledger_entries').values(removed).execute()
    }
  })

  test.each([
    ['app.payments', 'amount', sql`method <> 'tempo/session'`],
    ['app.jobs', 'charged_amount', sql`true`],
    ['app.jobs', 'committed_amount', sql`committed_amount < charged_amount`],
    ['app.job_attempts', 'paid_amount', sql`paid_amount IS NOT NULL`],
    ['app.payouts', 'amount', sql`kind = 'reward'`],
    ['app.payouts', 'amount', sql`state = 'paid'`],
    ['app.channel_captures', 'amount', sql`true`],
  ] as const)('of %s in %s', async (table, column, where) => {
    const change = (sign: '+' | '-', at: string) =>
      sql<{
        at: string
      }>`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sql.ref(column)} ${sql.raw(sign)} 1
        WHERE ctid = ${at}::tid RETURNING ctid::text AS at`.execute(app)
    const { rows } = await sql<{
      at: string
    }>`SELECT ctid::text AS at FROM ${sql.table(table)} WHERE ${where} LIMIT 1`.execute(app)
    const changed = await change('+', rows[0]?.at ?? '')
    expect(await compare()).not.toEqual([])
    await change('-', changed.rows[0]?.at ?? '')
    expect(await compare()).toEqual([])
  })

  test('of fees that no payout had', async () => {
    const of = { transaction_id: 'out_none', chain_id: 1337, currency: Buffer.from(toBytes(token)) }
    const added = [
      { ...of, account: 'costs:fees', amount: -1n },
      { ...of, account: 'chain', amount: 1n },
    ]
    await app.insertInto('app.ledger_entries').values(added).execute()
    expect(await differing()).toEqual(new Set(['out_none']))
    await app.deleteFrom('app.ledger_entries').where('transaction_id', '=', 'out_none').execute()
  })

  test('that somebody adds', async () => {
    const of = { transaction_id: 'gift', chain_id: 1337, currency: Buffer.from(toBytes(token)) }
    await app
      .insertInto('app.ledger_entries')
      .values([
        { ...of, account: 'revenue:jobs', amount: -1n },
        { ...of, account: `payer:${payer}`, amount: 1n },
      ])
      .execute()
    const watch = new BooksWatch({ app, clock: systemRuntime().clock, log: silentLogger })
    await watch.look()
    expect(watch.differing).toBe(2)
    expect(await compare()).toMatchObject([
      { transactionId: 'gift', expected: null },
      { transactionId: 'gift', expected: null, ledger: -1n },
    ])
  })
})

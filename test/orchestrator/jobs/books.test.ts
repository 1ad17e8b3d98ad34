// Goal: every entry of the ledger follows from the rows that the money moved with, and whoever changes
// one unit of either, takes an entry away or adds one is found.
// Method: each kind of movement is made as doors and workers make it, on a real database; then one
// row after the other is changed, compared and changed back.
// Invariant: I11.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { BooksWatch } from '#payments/books/BooksWatch.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { compareRows } from '#rows/books/compareRows.ts'
import { readAttempts, readJob } from '#rows/jobs/reads.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { addCapture } from '#rows/payments/captures.ts'
import { queueRefund } from '#rows/payments/liabilities.ts'
import { failPayment } from '#rows/payments/payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { toBytes } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../../support/appStore.ts'
import { openChannel, spendForCalls } from './support/bookedRows.ts'
import { buy, claim, payOut, randomHex, reviewJob, settle, spendFor } from './support/boughtJobs.ts'
import { openEngine } from './support/engine.ts'
import { payer } from './support/jobOrder.ts'
import { paidFor, type Sale, sold, token } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
/** As `echo`, with a payment on the chain that cost a fee. */
const charged: Sale = {
  answer: async (purchase) => {
    await spendFor(app, purchase, { units: purchase.unitsMax, fee: 7n })
    return sold(purchase, { id: purchase.nodeId })
  },
}
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

/** Every kind of movement, and what the chain took back of each. */
async function moveMoney() {
  await buy(app)
  await reviewed()
  await ended(lost)
  await ended(charged)
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
  await openChannel(app, channelId)
  const ofChannel = {
    ...{ scope: 'data:read', method: 'tempo/session' },
    ...{ identity: `${channelId}:300`, amount: 300n },
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
  await spendForCalls(app)
  expect(await compare()).toEqual([])
  expect(await compareRows(app, 1_000)).toEqual([])
  const kindOf = (id: string) => id.replace(/(?:pay|out|spd)_\w+|0x\w+(?::\d+)?|[\da-f-]{36}/g, '…')
  expect([...new Set((await transactionIds()).map(kindOf))].toSorted()).toEqual(
    [
      ...['cost:1337:…', 'fee:…', 'job:…/closed', 'job:…/held', 'job:…/reversed', 'reward:…'],
      ...['…', '…/owed', '…/reversed'],
    ].toSorted(),
  )
})

test('a job costs the fees of its calls, and they are told', async () => {
  const { jobId } = await buy(app)
  const cheap: Sale = {
    answer: async (purchase) => {
      await spendFor(app, purchase, { units: 900n, fee: 7n })
      return sold(purchase, {}, 900n)
    },
  }
  await openEngine(app, { '/a': cheap }).ended(jobId)
  // Twice 900, a twentieth of it, and two fees.
  expect(await readJob(app, jobId)).toMatchObject({ committedUnits: 1_904n })
  expect(await readAttempts(app, jobId)).toMatchObject(
    ['a', 'b'].map((nodeId) => ({ nodeId, paid: { units: 900n, fee: { fee: 7n, units: 7n } } })),
  )
  expect(await compare()).toEqual([])
  expect(await compareRows(app, 10)).toEqual([])
})

/** One row of a table that a text names. */
const one = (table: string, where: string) => `ctid = (SELECT min(ctid) FROM ${table} WHERE ${where})`
const set = (table: string, change: string, where: string) =>
  `UPDATE ${table} SET ${change} WHERE ${one(table, where)}`
const drop = (table: string, where: string) => `DELETE FROM ${table} WHERE ${one(table, where)}`
/** Both sides of every transaction that a text names. */
const entries = (change: string, ids: string) =>
  `UPDATE app.ledger_entries SET ${change} WHERE transaction_id IN (${ids})`
const forget = (ids: string) => `DELETE FROM app.ledger_entries WHERE transaction_id IN (${ids})`
const more = 'amount = amount + sign(amount)'
const other = `'\\x${'07'.repeat(20)}'`
const jobPayment = `method <> 'tempo/session' AND scope = 'jobs' AND proof IS NULL`
const closed = `payment_id IS NOT NULL AND ended_at IS NOT NULL AND committed_amount > 0 AND id NOT IN (SELECT job_id FROM app.node_reviews)`
const refund = (state: string) => `kind = 'refund' AND state = '${state}'`
const reward = `kind = 'reward' AND state = 'queued'`
const rewardId = `SELECT 'reward:' || reference FROM app.payouts WHERE ${one('app.payouts', reward)}`
const firstId = (table: string, where: string) => `SELECT id FROM ${table} WHERE ${one(table, where)}`
const costId = `SELECT 'cost:' || paid_chain_id || ':' || paid_reference FROM app.job_attempts WHERE ${one('app.job_attempts', 'paid_reference IS NOT NULL')}`
const closedId = `SELECT 'job:' || payment_id || '/closed' FROM app.jobs WHERE ${one('app.jobs', closed)}`
const captureId = `SELECT '0x' || encode(channel_id, 'hex') || ':' || settled FROM app.channel_captures`

/** Statements of one change: rows alone, entries alone, or both alike. */
const changes: Readonly<Record<string, readonly string[]>> = {
  'a payment: amount': [set('app.payments', 'amount = amount + 1', jobPayment)],
  'a payment: amount, and both entries': [
    entries(more, firstId('app.payments', jobPayment)),
    set('app.payments', 'amount = amount + 1', jobPayment),
  ],
  'a payment: payer': [set('app.payments', `payer = ${other}`, jobPayment)],
  'a payment: currency': [set('app.payments', `currency = ${other}`, jobPayment)],
  'a payment: chain': [set('app.payments', 'chain_id = 1', jobPayment)],
  'a payment: scope': [set('app.payments', `scope = 'data:other'`, jobPayment)],
  'a payment: state': [
    set('app.payments', `state = 'failed', receipt = NULL, settled_at = NULL`, jobPayment),
  ],
  'a payment: no transaction': [set('app.payments', 'tx_hash = NULL', jobPayment)],
  'a payment: proof': [set('app.payments', `proof = 'reversed'`, jobPayment)],
  'a payment: owed': [set('app.payments', 'owed_at = now()', jobPayment)],
  'a payment that is gone, with its entries': [
    forget(firstId('app.payments', jobPayment)),
    drop('app.payments', jobPayment),
  ],
  'a payment of a channel: amount': [set('app.payments', 'amount = amount + 1', `method = 'tempo/session'`)],
  'a payment of a channel that is gone, with its entries': [
    forget(firstId('app.payments', `method = 'tempo/session'`)),
    drop('app.payments', `method = 'tempo/session'`),
  ],
  'a job: charged': [set('app.jobs', 'charged_amount = charged_amount + 1', closed)],
  'a job: payer': [set('app.jobs', `payer = ${other}`, closed)],
  'a job: committed': [set('app.jobs', 'committed_amount = committed_amount - 1', closed)],
  'a job: committed units': [set('app.jobs', 'committed_units = committed_units - 1', closed)],
  'a job: committed, and its closing': [
    entries(
      `amount = amount + CASE account WHEN 'revenue:jobs' THEN -1 WHEN 'refunds' THEN 1 ELSE 0 END`,
      closedId,
    ),
    set('app.jobs', 'committed_amount = committed_amount - 1', closed),
  ],
  'a job: ended': [set('app.jobs', 'ended_at = NULL, due_at = now()', closed)],
  'a job that is gone, with all that it had': [
    forget(`${closedId.replace('/closed', '/held')} UNION ALL ${closedId}`),
    ...['events', 'attempts', 'nodes'].map(
      (table) => `DELETE FROM app.job_${table} WHERE job_id = (${firstId('app.jobs', closed)})`,
    ),
    drop('app.jobs', closed),
  ],
  'a call: amount': [set('app.job_attempts', 'paid_amount = paid_amount + 1', 'paid_amount IS NOT NULL')],
  'a call: amount, and both entries': [
    entries(more, costId),
    set('app.job_attempts', 'paid_amount = paid_amount + 1', 'paid_reference IS NOT NULL'),
  ],
  'a call: units': [set('app.job_attempts', 'paid_units = paid_units - 1', 'paid_units IS NOT NULL')],
  'a call: reference': [set('app.job_attempts', `paid_reference = '0x01'`, 'paid_reference IS NOT NULL')],
  'a call: outcome': [
    set(
      'app.job_attempts',
      `outcome = 'paid_not_delivered'`,
      `paid_reference IS NOT NULL AND outcome = 'answered'`,
    ),
  ],
  'a call: account of its cost': [
    `UPDATE app.ledger_entries SET account = 'cost:undelivered' WHERE ${one('app.ledger_entries', `account = 'cost:jobs'`)}`,
  ],
  'a spend: amount': [set('app.spends', 'amount = amount + 1', 'true')],
  'a spend: fee': [set('app.spends', 'fee = fee + 1', 'fee > 0')],
  'a spend: fee in units': [set('app.spends', 'fee_units = fee_units + 1', 'fee > 0')],
  'a job: fees': [set('app.jobs', 'fee_units = fee_units + 1', `${closed} AND fee_units = 0`)],
  'a spend: currency': [set('app.spends', `currency = ${other}`, 'true')],
  'a spend: chain': [set('app.spends', 'chain_id = 1', 'true')],
  'a spend: state': [set('app.spends', `state = 'void'`, 'true')],
  'a spend: transaction': [set('app.spends', String.raw`tx_hash = '\x0102', reference = '\x0102'`, 'true')],
  'a spend: no transaction': [set('app.spends', 'tx_hash = NULL', 'true')],
  'a spend that is gone': [drop('app.spends', 'true')],
  'a refund that waits: amount': [set('app.payouts', 'amount = amount + 1', refund('queued'))],
  'a refund that waits: receiver': [set('app.payouts', `recipient = ${other}`, refund('queued'))],
  'a refund that waits: currency': [set('app.payouts', `currency = ${other}`, refund('queued'))],
  'a refund that waits: chain': [set('app.payouts', 'chain_id = 1', refund('queued'))],
  'a refund that waits: what for': [set('app.payouts', `reference = 'pay_of_nobody'`, refund('queued'))],
  'a refund that waits: withdrawn': [set('app.payouts', `state = 'withdrawn'`, refund('queued'))],
  'a refund that waits, gone': [drop('app.payouts', refund('queued'))],
  'a refund that was sent: amount': [set('app.payouts', 'amount = amount + 1', refund('paid'))],
  'a refund that was sent: amount, and its entries': [
    `UPDATE app.ledger_entries SET ${more} WHERE account NOT IN ('costs:fees', 'payee')
      AND transaction_id = (${firstId('app.payouts', refund('paid'))})`,
    set('app.payouts', 'amount = amount + 1', refund('paid')),
  ],
  'a refund that was sent: queued again': [
    set('app.payouts', `state = 'queued', paid_at = NULL, block_number = NULL`, refund('paid')),
  ],
  'a reward: amount, and its entries': [
    entries(`amount = amount + 1000 * sign(amount)`, rewardId),
    set('app.payouts', 'amount = amount + 1000', reward),
  ],
  'a reward: its part of a fee': [set('app.payouts', 'fee_part = fee_part + 1000', reward)],
  'a reward: receiver': [set('app.payouts', `recipient = ${other}`, reward)],
  'a reward: withdrawn': [set('app.payouts', `state = 'withdrawn'`, reward)],
  'a transaction of a payout that is gone': [
    drop('app.payout_transactions', `payout_id IN (SELECT id FROM app.payouts WHERE state = 'paid')`),
  ],
  'a channel: spent': [set('app.channels', 'spent = spent - 1', 'true')],
  'a channel: settled': [set('app.channels', 'settled = settled - 1', 'true')],
  'a channel: payer': [set('app.channels', `payer = ${other}`, 'true')],
  'a capture: amount, and both entries': [
    entries(more, captureId),
    set('app.channel_captures', 'amount = amount + 1', 'true'),
  ],
  'a capture that is gone, with its entries': [forget(captureId), drop('app.channel_captures', 'true')],
}

/** The number of findings after the change, which is not kept. */
async function foundAfter(statements: readonly string[]): Promise<number> {
  let found = 0
  class NotKept extends Error {}
  const work = app.transaction().execute(async (transaction) => {
    for (const statement of statements) {
      const { numAffectedRows } = await sql.raw(statement).execute(transaction)
      expect(numAffectedRows, statement).toBeGreaterThan(0n)
    }
    found = (await compareEntries(transaction, 10)).length + (await compareRows(transaction, 10)).length
    throw new NotKept()
  })
  await work.catch((error) => {
    if (!(error instanceof NotKept)) throw error
  })
  return found
}

describe('a change is found', () => {
  test.each(Object.entries(changes))('of %s', async (_, statements) => {
    expect(await foundAfter(statements)).toBeGreaterThan(0)
  })
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
        // Those of payouts are in no row.
        .where((is) =>
          is.or([is('account', 'not in', ['costs:fees', 'payee']), is('transaction_id', 'like', 'fee:%')]),
        )
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
    ['app.spends', 'fee', sql`fee > 0`],
    ['app.payouts', 'amount', sql`kind = 'reward'`],
    ['app.payouts', 'amount', sql`state = 'paid'`],
    ['app.channel_captures', 'amount', sql`true`],
  ] as const)('of %s in %s', async (table, column, where) => {
    type Row = { at: string }
    const change = (sign: '+' | '-', at: string) =>
      sql<Row>`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sql.ref(column)} ${sql.raw(sign)} 1
        WHERE ctid = ${at}::tid RETURNING ctid::text AS at`.execute(app)
    const { rows } =
      await sql<Row>`SELECT ctid::text AS at FROM ${sql.table(table)} WHERE ${where} LIMIT 1`.execute(app)
    const changed = await change('+', rows[0]?.at ?? '')
    expect(await compare()).not.toEqual([])
    await change('-', changed.rows[0]?.at ?? '')
    expect(await compare()).toEqual([])
  })

  test('of fees that no payout had', async () => {
    const of = { transaction_id: 'out_none', chain_id: 1337, currency: Buffer.from(toBytes(token)) }
    const added = [
      { ...of, account: 'costs:fees', amount: 1n },
      { ...of, account: 'payee', amount: -1n },
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
    const watch = new BooksWatch({
      ...{ app, clock: systemRuntime().clock, log: silentLogger },
      chains: async () => ({ indexed: [], others: [] }),
    })
    await watch.look()
    // Nobody was named who tells of the chain: it is told, and no alarm is raised that none could end.
    expect([watch.differing, watch.unchecked, watch.notes.length]).toEqual([2, 0, 1])
    expect(await compare()).toMatchObject([
      { transactionId: 'gift', expected: null },
      { transactionId: 'gift', expected: null, ledger: -1n },
    ])
  })
})

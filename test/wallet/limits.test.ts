// Goal: no limit of the operator is passed, whoever pays at once, and a pause stops what is new.
// Method: reservations on two pools of one database, as of two processes.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { appDatabase } from '#rows/database.ts'
import {
  assignReservation,
  type JobReservation,
  readReserved,
  removeReservation,
} from '#rows/jobs/reservations.ts'
import { findSpend, type SpendTerms, sumOpenSpends, voidSpend } from '#rows/jobs/spends.ts'
import { adoptHistory, readWallet, reserveJob, reserveSpend, type WalletLimits } from '#rows/jobs/wallet.ts'
import { readDay } from '#rows/jobs/walletDays.ts'
import { findPause, pause, resumeWallet } from '#rows/payments/pauses.ts'
import { failPayment, releaseClaim } from '#rows/payments/payments.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { claim } from '../orchestrator/jobs/support/boughtJobs.ts'
import { node, orderOf, place } from '../orchestrator/jobs/support/jobOrder.ts'
import { openAppStore } from '../support/appStore.ts'
import { ample } from './support/wallet.ts'

const { app, databaseUrl } = await openAppStore()
await adoptHistory(app, 0)
let nodes = 0
const spend = (more: Partial<SpendTerms> = {}): SpendTerms => ({
  ...{ jobId: randomUUID(), nodeId: `node-${++nodes}`, attempt: 1, serviceId: 'service', protocol: 'mpp' },
  ...{ chainId: 1337, currency: `0x${'20'.repeat(20)}`, amount: 10n, units: 10n, statedFeeUnits: 0n },
  ...{ recipient: `0x${'ab'.repeat(20)}`, payer: `0x${'cd'.repeat(20)}` },
  ...more,
})

test.each([
  ['job', { jobId: randomUUID() }, { jobUnits: 105n }],
  ['service', { serviceId: 'one' }, { serviceUnits: 105n }],
  ['payee', { recipient: `0x${'11'.repeat(20)}` }, { payeeUnits: 105n }],
] as const)('two processes together stay within the limit per %s', async (limit, of, limits) => {
  const other = openPostgres({ url: databaseUrl, applicationName: 'other', log: silentLogger })
  const pools = [app, appDatabase(other)]
  const asked = Array.from({ length: 40 }, (_, index) =>
    reserveSpend(pools[index % 2] ?? app, spend(of), { ...ample, ...limits }, index),
  )
  const told = await Promise.all(asked)
  expect(told.filter(({ kind }) => kind === 'reserved')).toHaveLength(10)
  expect(told.filter((one) => one.kind === 'limited' && one.limit === limit)).toHaveLength(30)
  await other.close()
})

test('the limit of a day counts what is reserved and not what was given back', async () => {
  const { day } = await readWallet(app)
  const dayUnitsOf = async () => (await readDay(app, day)).find(({ kind }) => kind === 'all')?.units ?? 0n
  const limits = { ...ample, dayUnits: (await dayUnitsOf()) + 10n }
  const first = await reserveSpend(app, spend(), limits, 1)
  expect(await reserveSpend(app, spend(), limits, 2)).toEqual({ kind: 'limited', limit: 'day' })
  expect(first.kind === 'reserved' && (await voidSpend(app, first.id, { from: 'reserved' }))).toBe(true)
  expect(await reserveSpend(app, spend(), limits, 3)).toMatchObject({ kind: 'reserved' })
  expect(await dayUnitsOf()).toBe(limits.dayUnits)
  const [open] = await sumOpenSpends(app)
  expect(open).toMatchObject({ chainId: 1337, units: limits.dayUnits })
})

test('a payer who buys from his own sellers uses up his share of the day, and nobody else’s', async () => {
  const jobOf = (byte: string) =>
    place(app, { ...orderOf({ nodes: [node('call')] }), payer: `0x${byte.repeat(20)}` })
  const [stranger, victim] = ['a1', 'b2']
  const jobs = [await jobOf(stranger), await jobOf(stranger)]
  const limits = { ...ample, payerUnits: 105n }
  // Each time another seller.
  const asked = Array.from({ length: 24 }, (_, index) => {
    const of = { jobId: jobs[index % 2] ?? '', serviceId: `own-${index}` }
    return reserveSpend(app, spend({ ...of, recipient: `0x${`${10 + index}`.repeat(20)}` }), limits, index)
  })
  const told = await Promise.all(asked)
  const reserved = told.filter(({ kind }) => kind === 'reserved')
  expect(reserved).toHaveLength(10)
  expect(told.filter((one) => one.kind === 'limited' && one.limit === 'payer')).toHaveLength(14)
  const ofVictim = spend({ jobId: await jobOf(victim) })
  expect(await reserveSpend(app, ofVictim, limits, 1)).toMatchObject({ kind: 'reserved' })

  const { day } = await readWallet(app)
  const sums = (await readDay(app, day)).filter(({ kind }) => kind === 'payer')
  expect(sums.map(({ subject, units }) => [subject.slice(0, 4), units])).toEqual([
    ['0xa1', 100n],
    ['0xb2', 10n],
  ])
  // A reservation that was not paid is his again.
  const [first] = reserved
  expect(first?.kind === 'reserved' && (await voidSpend(app, first.id, { from: 'reserved' }))).toBe(true)
  const again = spend({ jobId: jobs[0] ?? '' })
  expect(await reserveSpend(app, again, limits, 1)).toMatchObject({ kind: 'reserved' })
})

test('a node has one spend', async () => {
  const terms = spend({ jobId: randomUUID() })
  const told = await Promise.all([1, 2, 3, 4].map((ms) => reserveSpend(app, terms, ample, ms)))
  expect(told.filter(({ kind }) => kind === 'reserved')).toHaveLength(1)
  expect(told.filter(({ kind }) => kind === 'taken')).toHaveLength(3)
  expect(await findSpend(app, terms)).toMatchObject({ state: 'reserved', reference: null })
})

const payee = `0x${'ab'.repeat(20)}`
/** A job whose payment is claimed, and what became of its reservation. */
async function sell(limits: Partial<WalletLimits>, more: Partial<JobReservation> = {}, on = app) {
  const payment = await claim(app)
  const job = {
    jobId: randomUUID(),
    paymentId: payment.id,
    payer: payment.payer,
    parts: [part(10n)],
    ...more,
  }
  const sold = await on.transaction().execute(async (transaction) => {
    const reserved = await reserveJob(transaction, job, { ...ample, ...limits })
    if (reserved.kind !== 'reserved')
      await transaction.deleteFrom('app.job_reservations').where('job_id', '=', job.jobId).execute()
    return reserved
  })
  return { ...job, payment, sold }
}
const part = (units: bigint, of: Partial<JobReservation['parts'][number]> = {}) => ({
  ...{ serviceId: 'service', payee, units },
  ...of,
})
/** The amount that counts against the limit of today, of all together. */
async function counted() {
  const { day } = await readWallet(app)
  const spent = (await readDay(app, day)).find(({ kind }) => kind === 'all')?.units ?? 0n
  return spent + (await readReserved(app, day))({ kind: 'all', subject: '' })
}

test.each([
  ['day', {}, 'dayUnits'],
  ['service', { parts: [part(10n, { serviceId: 'sold' })] }, 'serviceUnits'],
  ['payee', { parts: [part(10n, { payee: `0x${'77'.repeat(20)}` })] }, 'payeeUnits'],
  ['payer', { payer: `0x${'78'.repeat(20)}` }, 'payerUnits'],
] as const)(
  'what is sold by two processes together stays within the limit per %s',
  async (limit, of, name) => {
    const other = openPostgres({ url: databaseUrl, applicationName: 'other', log: silentLogger })
    const pools = [app, appDatabase(other)]
    const limits = { [name]: limit === 'day' ? (await counted()) + 35n : 35n }
    const told = await Promise.all(
      Array.from({ length: 12 }, (_, index) => sell(limits, of, pools[index % 2])),
    )
    expect(told.filter(({ sold }) => sold.kind === 'reserved')).toHaveLength(3)
    expect(told.flatMap(({ sold }) => (sold.kind === 'limited' ? [sold.limit] : []))).toEqual(
      Array(9).fill(limit),
    )
    for (const { jobId } of told) await removeReservation(app, jobId)
    await other.close()
  },
)

test('payers whom nothing proves share what one payer has, until their payments settle', async () => {
  const [limits, payer] = [{ payerUnits: 25n }, `0x${'79'.repeat(20)}`]
  const orders = [await sell(limits, { payer: null }), await sell(limits, { payer: null })]
  expect(orders.map(({ sold }) => sold.kind)).toEqual(['reserved', 'reserved'])
  expect((await sell(limits, { payer: null })).sold).toEqual({ kind: 'limited', limit: 'payer' })
  expect((await sell(limits, { payer })).sold.kind).toBe('reserved')
  const [settled] = orders
  await assignReservation(app, settled?.jobId ?? '', payer)
  expect((await sell(limits, { payer: null })).sold.kind).toBe('reserved')
  expect((await sell(limits, { payer })).sold).toEqual({ kind: 'limited', limit: 'payer' })
})

test('a spend counts within what its job has reserved, and what it did not cost is the job’s again', async () => {
  const before = await counted()
  const { jobId } = await sell({}, { parts: [part(20n), part(5n, { payee: null })] })
  const limits = { ...ample, dayUnits: before + 25n }
  expect(await counted()).toBe(before + 25n)
  expect((await sell({ dayUnits: before + 25n })).sold).toEqual({ kind: 'limited', limit: 'day' })
  const buy = (units: bigint) => reserveSpend(app, spend({ jobId, units }), limits, 1)
  const first = await buy(15n)
  expect([first.kind, await counted()]).toEqual(['reserved', before + 25n])
  // Five are left of the payee, and five of whoever is paid.
  expect((await buy(10n)).kind).toBe('reserved')
  expect([await buy(1n), await counted()]).toEqual([{ kind: 'limited', limit: 'day' }, before + 25n])
  const fee = { fee: 4n, feeCurrency: `0x${'20'.repeat(20)}`, units: 4n } as const
  if (first.kind === 'reserved') await voidSpend(app, first.id, { from: 'reserved', fee })
  expect(await counted()).toBe(before + 25n)
  expect((await buy(11n)).kind).toBe('reserved')
  expect((await buy(1n)).kind).toBe('limited')
  await removeReservation(app, jobId)
  expect(await counted()).toBe(before + 25n)
})

test('what is reserved for a job whose payment fails, or is given back, is free', async () => {
  const before = await counted()
  const [failed, released] = [await sell({}), await sell({})]
  expect(await counted()).toBe(before + 20n)
  await failPayment(app, failed.payment)
  expect(await counted()).toBe(before + 10n)
  await releaseClaim(app, released.payment)
  expect(await counted()).toBe(before)
})

test('a pause is a row that every process heeds', async () => {
  await pause(app, 'wallet', 'a look at the books')
  expect(await reserveSpend(app, spend(), ample, 1)).toEqual({ kind: 'paused' })
  expect(await findPause(app, 'wallet')).toMatchObject({ reason: 'a look at the books' })
  expect([await resumeWallet(app), await resumeWallet(app)]).toEqual([true, false])
  expect(await reserveSpend(app, spend(), ample, 1)).toMatchObject({ kind: 'reserved' })
})

test('a database of another history pays nothing before what is open is known and the operator resumes', async () => {
  await app.updateTable('app.wallet').set({ history: 'another/00000001' }).execute()
  expect(await reserveSpend(app, spend(), ample, 1)).toEqual({ kind: 'frozen' })
  expect((await readWallet(app)).isKnown).toBe(false)
  // An open spend is waited for, however long.
  expect(await adoptHistory(app, 0)).toBe(false)
  expect(await adoptHistory(app, 0)).toBe(false)
  const open = await app.selectFrom('app.spends').select('id').where('state', '=', 'reserved').execute()
  for (const { id } of open) await voidSpend(app, id, { from: 'reserved' })
  expect(await adoptHistory(app, 0)).toBe(true)
  expect(await reserveSpend(app, spend(), ample, 1)).toEqual({ kind: 'paused' })
  await pause(app, 'payouts', 'the same restore', 'restore')
  expect(await resumeWallet(app)).toBe(true)
  expect(await findPause(app, 'payouts')).toBeNull()
  expect(await reserveSpend(app, spend(), ample, 1)).toMatchObject({ kind: 'reserved' })
})

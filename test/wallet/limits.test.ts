// Goal: no limit of the operator is passed, whoever pays at once, and a pause stops what is new.
// Method: reservations on two pools of one database, as of two processes.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { appDatabase } from '#rows/database.ts'
import { findSpend, type SpendTerms, sumOpenSpends, voidSpend } from '#rows/jobs/spends.ts'
import { adoptHistory, readWallet, reserveSpend } from '#rows/jobs/wallet.ts'
import { readDay } from '#rows/jobs/walletDays.ts'
import { findPause, pause, resumeWallet } from '#rows/payments/pauses.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { node, orderOf, place } from '../orchestrator/jobs/support/jobOrder.ts'
import { openAppStore } from '../support/appStore.ts'
import { ample } from './support/wallet.ts'

const { app, databaseUrl } = await openAppStore()
await adoptHistory(app, 0)
let nodes = 0
const spend = (more: Partial<SpendTerms> = {}): SpendTerms => ({
  ...{ jobId: randomUUID(), nodeId: `node-${++nodes}`, attempt: 1, serviceId: 'service', protocol: 'mpp' },
  ...{ chainId: 1337, currency: `0x${'20'.repeat(20)}`, amount: 10n, units: 10n },
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
  // What was not paid is his again.
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
  // What is open is waited for, however long.
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

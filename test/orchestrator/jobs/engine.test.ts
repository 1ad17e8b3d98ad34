// Goal: a job runs in stages, values flow, no call is paid for twice, and its books sum to zero.
// Method: the real database; sellers are functions, so that each misbehaves as it is told.
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AppDatabase } from '#rows/database.ts'
import { heldJobs } from '#rows/jobs/heldJobs.ts'
import { takeJobs } from '#rows/jobs/takeJobs.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import type { Purchased } from '#wallet/buyer.ts'
import { openAppStore } from '../../support/appStore.ts'
import { openEngine } from './support/engine.ts'
import { node, orderOf } from './support/jobOrder.ts'
import { inputOf, polledAnswer, type Sale, sold } from './support/scriptedSellers.ts'

const { app } = await openAppStore()

const open = (sales: Readonly<Record<string, Sale>>) => openEngine(app, sales)

const refundsTo = async (paymentId: string | null) =>
  app
    .selectFrom('app.payouts')
    .select(['amount', 'kind'])
    .where('reference', '=', paymentId ?? '')
    .execute()

const system = systemRuntime()
/** Its pauses of some seconds pass in milliseconds. */
const hasty = {
  ...system,
  clock: {
    ...system.clock,
    sleep: (ms: number, signal?: AbortSignal) => system.clock.sleep(ms <= 5_000 ? ms / 100 : ms, signal),
  },
}

const echo: Sale = { answer: (purchase) => sold(purchase, { got: inputOf(purchase) }) }

test('five nodes in three stages, with values that flow from one to the next', async () => {
  const { run, sellers } = open({
    '/list': {
      answer: (purchase) => sold(purchase, { items: [{ n: 'x' }, { n: 'y' }], word: 'hello' }, 400n),
    },
    '/other': echo,
    '/one': echo,
    '/two': echo,
    '/last': echo,
  })
  const names = { $map: { from: 'flow://list/output#/items', path: '/n' } }
  const { job, nodes } = await run(
    orderOf({
      nodes: [
        node('last', {
          input: { all: ['flow://one/output#/got/names', 'flow://two/output'] },
          dependsOn: ['one', 'two'],
        }),
        node('list'),
        node('other'),
        node('one', { input: { names }, dependsOn: ['list'] }),
        node('two', {
          input: { $concat: ['so ', 'flow://list/output#/word'] },
          dependsOn: ['list', 'other'],
        }),
      ],
    }),
  )
  expect(job).toMatchObject({ state: 'succeeded', charged_units: '5250', committed_units: '4620' })
  expect(nodes.get('last')?.output).toBe('{"got":{"all":[["x","y"],{"got":"so hello"}]}}')
  expect(sellers.calls.map(({ nodeId }) => nodeId).toSorted()).toEqual([
    'last',
    'list',
    'one',
    'other',
    'two',
  ])
  expect(await refundsTo(job.payment_id)).toEqual([{ kind: 'refund', amount: '630' }])
})

test('numbers flow with all their digits, from a body to the next and to a query', async () => {
  const digits = '123456789012345678901234567890'
  const text = `{"wei":${digits},"of":[0.10000000000000000001,1e400],"short":[7,1.50]}`
  const { run, sellers } = open({
    '/amounts': { answer: (purchase) => ({ ...sold(purchase, {}), body: Buffer.from(text) }) },
    '/one': { answer: (purchase) => ({ ...sold(purchase, {}), body: Buffer.from(purchase.body ?? '') }) },
    '/two': echo,
  })
  const { nodes } = await run(
    orderOf({
      nodes: [
        node('amounts'),
        node('one', {
          input: { all: 'flow://amounts/output', wei: 'flow://amounts/output#/wei' },
          dependsOn: ['amounts'],
        }),
        node('two', { method: 'GET', input: { wei: 'flow://one/output#/all/wei' }, dependsOn: ['one'] }),
      ],
    }),
  )
  expect(nodes.get('amounts')?.output).toBe(text)
  const whole = text.replace('1.50', '1.5')
  expect(nodes.get('one')?.output).toBe(`{"all":${whole},"wei":${digits}}`)
  expect(new URL(sellers.calls.at(-1)?.url ?? '').search).toBe(`?wei=${digits}`)
})

test('a node that fails takes along what depends on it, and the rest runs', async () => {
  const { run } = open({
    '/bad': { answer: (purchase) => sold(purchase, { error: 'no' }, 1_000n, 500) },
    '/free': {
      answer: (purchase) => ({ kind: 'refused', code: 'price_exceeded', message: `asks ${purchase.nodeId}` }),
    },
    '/good': echo,
    '/after': echo,
    '/later': echo,
  })
  const { job, nodes } = await run(
    orderOf({
      nodes: [
        ...[node('bad'), node('free'), node('good')],
        node('after', { dependsOn: ['bad', 'good'] }),
        node('later', { dependsOn: ['after'] }),
      ],
    }),
  )
  const states = Object.fromEntries(
    [...nodes].map(([id, { state, error_code: code }]) => [id, code ?? state]),
  )
  expect(states).toEqual({
    ...{ bad: 'seller_failed', free: 'price_exceeded', good: 'succeeded' },
    ...{ after: 'dependency_failed', later: 'dependency_failed' },
  })
  // A paid call that was not delivered is a cost of the job.
  expect(job).toMatchObject({ state: 'partially_succeeded', committed_units: '2100' })
  expect(await refundsTo(job.payment_id)).toEqual([{ kind: 'refund', amount: '3150' }])
})

test('nothing that worked is a failed job, whose payer gets everything back', async () => {
  const { run } = open({
    '/a': { answer: () => ({ kind: 'refused', code: 'budget_exceeded', message: 'no' }) },
  })
  const { job } = await run(orderOf({ nodes: [node('a')] }))
  expect(job).toMatchObject({ state: 'failed', committed_units: '0', committed_amount: '0' })
  expect(await refundsTo(job.payment_id)).toEqual([{ kind: 'refund', amount: '1050' }])
})

test('an outcome that is not known is asked for as the same purchase; what paid nothing is another', async () => {
  const { run, sellers } = open({
    '/slow': {
      answer: (purchase, times) =>
        times < 3 ? { kind: 'unknown', retryAfterMs: 10 } : sold(purchase, { times }),
    },
    '/down': {
      answer: (purchase, times) =>
        times < 2 ? { kind: 'refused', code: 'unreachable', message: 'is away' } : sold(purchase, { times }),
    },
  })
  const { job } = await run(orderOf({ nodes: [node('slow'), node('down')] }))
  expect(job.state).toBe('succeeded')
  const attempts = (id: string) =>
    sellers.calls.filter(({ nodeId }) => nodeId === id).map(({ attempt }) => attempt)
  expect(attempts('slow')).toEqual([1, 1, 1])
  expect(attempts('down')).toEqual([1, 2])
  const rows = await app
    .selectFrom('app.job_attempts')
    .select(['node_id', 'attempt', 'outcome'])
    .where('job_id', '=', job.id)
    .orderBy('node_id')
    .orderBy('attempt')
    .execute()
  expect(rows).toEqual([
    { node_id: 'down', attempt: 1, outcome: 'refused' },
    { node_id: 'down', attempt: 2, outcome: 'answered' },
    { node_id: 'slow', attempt: 1, outcome: 'answered' },
  ])
})

const completion = {
  ...{ method: 'GET', path: '/works/:id', idPointer: '/id', statusPointer: '/status' },
  ...{ successStatuses: ['done'], failureStatuses: ['failed'], maxAttempts: 3, pollIntervalSeconds: 1 },
} satisfies Sale['completion']

test('a service that works on is asked until it is done, and never paid for that', async () => {
  const { run, sellers } = open({
    '/begin': {
      answer: (purchase) => sold(purchase, { id: 'w1', status: 'pending' }, 1_000n, 202),
      completion,
      polls: [polledAnswer({ status: 'pending' }), polledAnswer({ status: 'done', text: 'ready' })],
    },
    '/next': echo,
  })
  const next = node('next', { input: { t: 'flow://begin/output#/text' }, dependsOn: ['begin'] })
  const { job, nodes } = await run(orderOf({ nodes: [node('begin'), next] }))
  expect(job.state).toBe('succeeded')
  expect(nodes.get('next')?.output).toBe('{"got":{"t":"ready"}}')
  expect(nodes.get('begin')).toMatchObject({ polls: 2, poll_path: '/works/w1' })
  expect(sellers.calls).toHaveLength(2)
})

test('a service that asks for money at a poll, or is never done, has failed', async () => {
  const { run } = open({
    '/greedy': {
      answer: (p) => sold(p, { id: 'w1', status: 'pending' }),
      completion,
      polls: [polledAnswer({}, 402)],
    },
    '/idle': {
      answer: (purchase) => sold(purchase, { id: 'w2', status: 'pending' }),
      completion: { ...completion, path: '/idle-works/:id', maxAttempts: 1 },
      polls: [polledAnswer({ status: 'pending' })],
    },
    '/lying': { answer: (purchase) => sold(purchase, { status: 'pending' }), completion },
  })
  const { job, nodes } = await run(orderOf({ nodes: [node('greedy'), node('idle'), node('lying')] }))
  const codes = Object.fromEntries([...nodes].map(([id, { error_code: code }]) => [id, code]))
  expect(codes).toEqual({
    greedy: 'completion_unpayable',
    idle: 'completion_timeout',
    lying: 'completion_unreadable',
  })
  expect(job).toMatchObject({ state: 'failed', committed_units: '3150' })
  expect(await refundsTo(job.payment_id)).toEqual([])
})

test('an output without what the next one takes from it ends that one, unpaid', async () => {
  const { run, sellers } = open({ '/a': echo, '/b': echo })
  const b = node('b', { input: { x: 'flow://a/output#/absent' }, dependsOn: ['a'] })
  const { job, nodes } = await run(orderOf({ nodes: [node('a'), b] }))
  expect(nodes.get('b')).toMatchObject({ state: 'failed', error_code: 'input_unresolved' })
  expect(job).toMatchObject({ state: 'partially_succeeded', committed_units: '1050' })
  expect(sellers.calls).toHaveLength(1)
})

test('eight calls of a job are under way at a time, and a hundred in a line run in order', async () => {
  let [underWay, most] = [0, 0]
  const wide: Sale = {
    answer: async (purchase) => {
      underWay++
      most = Math.max(most, underWay)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      return sold(purchase, {})
    },
  }
  const { run, sellers } = open({ '/w': wide, '/l': echo })
  const plain = await run(
    orderOf({ nodes: Array.from({ length: 30 }, (_, i) => node(`n${i}`, { path: '/w' })) }),
  )
  expect(plain.job.state).toBe('succeeded')
  expect(most).toBe(8)
  const line = Array.from({ length: 100 }, (_, i) =>
    node(`l${i}`, { path: '/l', dependsOn: i === 0 ? [] : [`l${i - 1}`] }),
  )
  const { job } = await run(orderOf({ nodes: line.toReversed() }))
  expect(job.state).toBe('succeeded')
  expect(sellers.calls.slice(30).map(({ nodeId }) => nodeId)).toEqual(line.map(({ id }) => id))
})

test("an end waits for what is paid for and holds its job meanwhile; the rest is the next one's", async () => {
  const answered = Promise.withResolvers<void>()
  const [begun, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [calls, keeps] = [0, 0]
  const logged: object[] = []
  const log = { ...silentLogger, warn: (fields: object) => void logged.push(fields) }
  const sales: Readonly<Record<string, Sale>> = {
    '/paid': {
      answer: async (purchase) => {
        if (++calls === 2) begun.resolve()
        await answered.promise
        return sold(purchase, { got: 'late' })
      },
    },
    '/open': {
      answer: (purchase, _, signal) => {
        if (++calls === 2) begun.resolve()
        if (calls > 2) return sold(purchase, { mayPay: purchase.mayPay?.() })
        return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    },
  }
  const rows = heldJobs(app)
  const keep: typeof rows.keep = async (held, holdMs) => {
    const told = await rows.keep(held, holdMs)
    if (isEnding && told.length > 0 && ++keeps === 4) kept.resolve()
    return told
  }
  let isEnding = false
  const engine = openEngine(app, sales, { log, runtime: hasty, jobs: { ...rows, keep } })
  const jobId = await engine.begin(orderOf({ nodes: [node('paid'), node('open')] }))
  await begun.promise
  isEnding = true
  const ended = engine.stop()
  await Promise.race([kept.promise, ended])
  expect([keeps, logged]).toEqual([4, [expect.objectContaining({ paidCalls: 2 })]])
  expect(engine.sellers.calls.map(({ mayPay }) => mayPay?.())).toEqual([false, false])
  answered.resolve()
  await ended

  const next = openEngine(app, sales)
  expect((await next.ended(jobId)).state).toBe('succeeded')
  expect(next.sellers.calls.map(({ nodeId, attempt }) => [nodeId, attempt])).toEqual([['open', 1]])
})

test('a free plan ends without books', async () => {
  const { run } = open({ '/a': { answer: (purchase) => sold(purchase, {}, 0n) } })
  const { job } = await run(orderOf({ nodes: [node('a')] }, { a: 0 }))
  expect(job).toMatchObject({
    state: 'succeeded',
    charged_amount: null,
    committed_units: '0',
    committed_amount: null,
  })
})

test('the first jobs that a process takes are those of payers who have fewer there', async () => {
  class Undone extends Error {}
  const many = async (transaction: AppDatabase, payer: string, count: number, minutes: number) =>
    sql`INSERT INTO app.jobs (id, payer, idempotency_key, plan_hash, currency, decimals, cost_multiplier, charged_units,
        due_at, deadline_at)
      SELECT gen_random_uuid(), ${Buffer.from(payer.repeat(20), 'hex')}, 'key-' || n, '', 'USDC', 6, '1', 0,
        now() - ${minutes} * interval '1 minute', now() + interval '1 hour'
      FROM generate_series(1, ${count}) AS n`.execute(transaction)
  const undone = app.transaction().execute(async (transaction) => {
    await many(transaction, 'aa', 1_000, 30)
    await many(transaction, 'bb', 1, 20)
    await many(transaction, 'cc', 3, 10)
    const of = (byte: string) => `0x${byte.repeat(20)}`
    const take = async (free: number, ...held: readonly [string, number][]) => {
      const places = { free, held: new Map(held), perFree: 3 }
      const taken = await takeJobs(transaction, places, 60_000)
      return taken.map(({ payer }) => payer.slice(2, 4)).toSorted()
    }
    expect(await take(4, [of('aa'), 24])).toEqual(['bb', 'cc', 'cc', 'cc'])
    // More than three for each that is free are no one's.
    expect(await take(8, [of('aa'), 24])).toEqual([])
    expect(await take(8, [of('aa'), 18])).toEqual(['aa', 'aa'])
    expect(await take(8)).toHaveLength(6)
    throw new Undone()
  })
  await expect(undone).rejects.toThrow(Undone)
})

test('all books together sum to zero, and nothing lies in escrow for jobs that have ended', async () => {
  const balances = await readBalances(app)
  expect(balances.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
  expect(balances.find(({ account }) => account === 'escrow:jobs')?.amount ?? 0n).toBe(0n)
})

describe('a silent seller', () => {
  /** Runs jobs of others at a seller that does not answer, then one of the victim, to its end. */
  async function victimBeside(payers: readonly string[]) {
    const silence = Promise.withResolvers<Purchased>()
    const { clock, ...others } = systemRuntime()
    const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(Math.min(ms, 50), signal)
    const engine = openEngine(
      app,
      { '/silent': { answer: () => silence.promise }, '/good': echo },
      { runtime: { ...others, clock: { ...clock, sleep } } },
    )
    onTestFinished(() => silence.resolve({ kind: 'refused', code: 'unreachable', message: 'no' }))
    const silent = () => orderOf({ nodes: [node('silent', { serviceId: 'silent' })] })
    const [hanging, of] = [[] as string[], (byte: string): `0x${string}` => `0x${byte.repeat(20)}`]
    for (const payer of payers) hanging.push(await engine.begin({ ...silent(), payer: of(payer) }))
    await expect.poll(() => engine.sellers.calls.length).toBeGreaterThanOrEqual(64)
    const { job } = await engine.run({ ...orderOf({ nodes: [node('good')] }), payer: of('fe') })
    const ended = await app
      .selectFrom('app.jobs')
      .select('id')
      .where('id', 'in', hanging)
      .where('ended_at', 'is not', null)
      .execute()
    return { state: job.state, ended: ended.length }
  }
  const many = Array.from({ length: 120 }, (_, index) => index)

  test('whose own payer buys of it with all his jobs holds up no other payer', async () => {
    const told = await victimBeside(many.map(() => 'aa'))
    expect(told).toEqual({ state: 'succeeded', ended: 0 })
  })

  test('that everybody buys of holds up no other seller', async () => {
    const told = await victimBeside(many.map((index) => index.toString(16).padStart(2, '0')))
    expect(told).toEqual({ state: 'succeeded', ended: 0 })
  })
})

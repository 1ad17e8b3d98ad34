// Goal: a job is read by its id while it runs and after, with every output as its service wrote it.
// Method: the endpoints over HTTP, on a real database, beside an engine with scripted sellers.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { Compile } from 'typebox/compile'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '#api/server.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { jobSchema } from '#orchestrator/job/publicJob.ts'
import { jobReadEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { removeResults, requestCancel } from '#rows/jobs/reads.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import { createLogger } from '#telemetry.ts'
import { openAppStore } from '../../support/appStore.ts'
import { openEngine } from './support/engine.ts'
import { node, orderOf } from './support/jobOrder.ts'
import { type Sale, sold } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
const { clock } = systemRuntime()
const check = Compile(jobSchema)

async function serve(changed: CommitBell) {
  const server = await createServer({
    endpoints: jobReadEndpoints,
    services: { app, jobsChanged: changed, clock },
    chains: [],
    cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
    clock,
    log: createLogger('silent'),
    shutdown: new AbortController().signal,
  })
  onTestFinished(() => server.close())
  return {
    get: async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const {
        statusCode: status,
        body,
        headers: told,
      } = await server.inject({ url: `/v1/jobs/${path}`, headers })
      return { status, body, headers: told }
    },
  }
}

const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const broken: Sale = { answer: (purchase) => sold(purchase, {}, purchase.unitsMax, 500) }

test('an id that is none is 400, one that no job has is 404', async () => {
  const { get } = await serve(openEngine(app, {}).changed)
  for (const id of ['1', 'x'.repeat(36), `{${randomUUID()}}`]) expect((await get(id)).status, id).toBe(400)
  expect(await get(randomUUID())).toMatchObject({ status: 404 })
  expect((await get(`${randomUUID()}/events`)).status).toBe(404)
})

test('an order that becomes a job while it is looked for is found', async () => {
  const engine = openEngine(app, { '/a': echo })
  const { get } = await serve(engine.changed)
  const jobId = randomUUID()
  const answer = await app.transaction().execute(async (transaction) => {
    await sql`LOCK TABLE app.job_orders`.execute(transaction)
    const asked = get(jobId)
    // There was no job, and there is no order any more when the lock goes.
    await expect.poll(waitingOnOrders).toBe(true)
    await engine.begin({ ...orderOf({ nodes: [node('a')] }), jobId })
    return { asked }
  })
  expect((await answer.asked).status).toBeLessThan(300)
})

const waitingOnOrders = async (): Promise<boolean> => {
  const { rows } = await sql`
    SELECT FROM pg_locks WHERE relation = 'app.job_orders'::regclass AND NOT granted`.execute(app)
  return rows.length > 0
}

test('a job that runs is 202, one that has ended 200 with what its nodes answered', async () => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const held: Sale = { answer: async (purchase) => gate.then(() => sold(purchase, { done: true })) }
  const engine = openEngine(app, { '/a': echo, '/held': held, '/b"c': echo })
  const { get } = await serve(engine.changed)
  const plan = { nodes: [node('a'), node('held'), node('b"c', { path: '/a', dependsOn: ['held'] })] }
  const jobId = await engine.begin(orderOf(plan))
  const before = await get(jobId)
  expect(before.status).toBe(202)
  expect(JSON.parse(before.body)).toEqual({ jobId, ready: false })
  expect(before.headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  open()
  await engine.ended(jobId)
  const after = await get(jobId.toUpperCase())
  expect(after.status).toBe(200)
  const job = JSON.parse(after.body)
  expect(job).toEqual({
    ...{ jobId, ready: true, status: 'succeeded', ok: true, cached: true },
    result: { a: { id: 'a' }, held: { done: true }, 'b"c': { id: 'b"c' } },
    usage: { committed: '0.00315', currency: 'USDC', paymentMethod: 'charge' },
  })
  expect(check.Check(job)).toBe(true)
})

test('runs tell attempts, amounts, hashes, and what to do about an error', async () => {
  const engine = openEngine(app, { '/a': echo, '/bad': broken })
  const { get } = await serve(engine.changed)
  const { job } = await engine.run(
    orderOf({ nodes: [node('a'), node('bad'), node('c', { dependsOn: ['bad'] })] }),
  )
  const { body } = await get(`${job.id}?include=runs`)
  const told = JSON.parse(body)
  expect(check.Check(told)).toBe(true)
  expect(told).toMatchObject({
    ok: false,
    status: 'partially_succeeded',
    error: {
      code: 'job_partially_succeeded',
      message: 'These nodes failed: bad (seller_failed).',
      remedy: 'retry',
    },
  })
  const [a, bad, c] = told.runs
  expect(a).toMatchObject({ nodeId: 'a', state: 'succeeded', quoted: '0.001', outputBytes: 10 })
  expect([a.dependsOn, c.dependsOn, a.attempts[0].durationMs >= 0]).toEqual([[], ['bad'], true])
  expect(told.order).toMatchObject({
    ...{ state: 'partially_succeeded', charged: '0.00315', currency: 'USDC' },
    ...{ planHash: job.plan_hash, endedAt: expect.any(String) },
    refund: { status: 'queued', amount: expect.stringMatching(/^0\.\d+$/) },
  })
  expect(a.outputDigest).toMatch(/^[0-9a-f]{64}$/)
  expect(a.attempts).toMatchObject([
    { attempt: 1, outcome: 'answered', status: 200, paid: { amount: '0.001' } },
  ])
  expect(bad).toMatchObject({ state: 'failed', error: { code: 'seller_failed', remedy: 'retry' } })
  expect(c).toMatchObject({
    state: 'skipped',
    attempts: [],
    error: { code: 'dependency_failed', remedy: 'none' },
  })
})

test('outputs are told of all nodes, of some that are named, or of none', async () => {
  const engine = openEngine(app, { '/a': echo })
  const { get } = await serve(engine.changed)
  const nodes = ['a', 'b, c', 'd'].map((id) => node(id, { path: '/a' }))
  const { job } = await engine.run(orderOf({ nodes }))
  const told = async (query: string) => JSON.parse((await get(`${job.id}?${query}`)).body).result
  expect(Object.keys(await told(''))).toEqual(['a', 'b, c', 'd'])
  expect(await told('nodeId=b,%20c')).toEqual({ 'b, c': { id: 'b, c' } })
  expect(Object.keys(await told('nodeId=a&nodeId=d&nodeId=none'))).toEqual(['a', 'd'])
  expect(await told('results=false')).toEqual({})
  expect(await get(`${job.id}?results=no`)).toMatchObject({ status: 400 })
})

test('events come in order up to the end, and go on from where a reader was', async () => {
  const engine = openEngine(app, { '/a': echo, '/b': echo })
  const { get } = await serve(engine.changed)
  const jobId = await engine.begin(orderOf({ nodes: [node('a'), node('b', { dependsOn: ['a'] })] }))
  const { body, status } = await get(`${jobId}/events`)
  expect(status).toBe(200)
  const told = [...body.matchAll(/^event: (\w+)\nid: (\d+)\ndata: (.*)$/gm)].map(
    ([, type, id, data = '']) => {
      const { state, nodeId = '' } = JSON.parse(data)
      return `${id} ${type} ${nodeId}${nodeId && ' '}${state}`
    },
  )
  expect(told).toEqual([
    '1 job queued',
    '2 job running',
    '3 node a running',
    '4 node a succeeded',
    '5 node b running',
    '6 node b succeeded',
    '7 job succeeded',
  ])
  const rest = await get(`${jobId}/events`, { 'last-event-id': '5' })
  expect([...rest.body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id)).toEqual(['6', '7'])
})

test('a cancelled job begins nothing more, and pays back what it did not spend', async () => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const engine = openEngine(app, { '/a': { answer: async (p) => gate.then(() => sold(p, {})) }, '/b': echo })
  const { get } = await serve(engine.changed)
  const jobId = await engine.begin(orderOf({ nodes: [node('a'), node('b', { dependsOn: ['a'] })] }))
  while (engine.sellers.calls.length === 0) await engine.changed.wait(clock, 50, new AbortController().signal)
  expect(await requestCancel(app, jobId)).toBe(true)
  expect(await requestCancel(app, jobId)).toBe(false)
  // The next heartbeat tells the engine; the call that is under way is paid for and kept.
  while (!JSON.parse((await get(`${jobId}?include=runs`)).body).runs[1].error)
    await engine.changed.wait(clock, 100, new AbortController().signal)
  open()
  expect(await engine.ended(jobId)).toMatchObject({ state: 'cancelled', committed_units: '1050' })
  const job = JSON.parse((await get(jobId)).body)
  expect(job).toMatchObject({ ok: false, result: { a: {} }, error: { code: 'job_cancelled' } })
  expect(engine.sellers.calls).toHaveLength(1)
})

test('results that are past their time are said to be gone; amounts and digests stay', async () => {
  const engine = openEngine(app, { '/a': echo })
  const { get } = await serve(engine.changed)
  const { job } = await engine.run(orderOf({ nodes: [node('a')] }))
  while (await removeResults(app, 0)) {}
  const told = JSON.parse((await get(`${job.id}?include=runs`)).body)
  expect(told).toMatchObject({
    ok: true,
    result: {},
    error: { code: 'job_results_removed' },
    usage: { committed: '0.00105' },
  })
  expect(told.runs[0].outputDigest).toMatch(/^[0-9a-f]{64}$/)
  expect(told.runs[0]).not.toHaveProperty('dependsOn')
  expect(check.Check(told)).toBe(true)
})

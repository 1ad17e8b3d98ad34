// Goal: to a client that declares the tasks extension a job is a task, told as the extension has it;
// to any other client nothing of it is there.
// Method: the door on loopback, asked by raw messages of either revision and by the client that the
// extension publishes; an engine with scripted sellers runs the jobs.
import { randomUUID } from 'node:crypto'
import { taskId } from '@modelcontextprotocol/ext-tasks/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { membersOf } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { requestCancel } from '#rows/jobs/reads.ts'
import { openEngine } from './jobs/support/engine.ts'
import { node, orderOf, place } from './jobs/support/jobOrder.ts'
import { type Sale, sold } from './jobs/support/scriptedSellers.ts'
import { openDoors } from './support/server.ts'
import { ask, connectTasks, declaring, TASKS } from './support/taskClient.ts'

let app: AppDatabase
let address: string
let tasks: Awaited<ReturnType<typeof connectTasks>>
const ends: (() => unknown)[] = []

beforeAll(async () => {
  const doors = await openDoors((end) => void ends.push(end))
  app = doors.catalog.app
  address = doors.address
  tasks = await connectTasks(address)
  ends.push(tasks.close)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const plan = { nodes: [node('a'), node('b', { path: '/a', dependsOn: ['a'] })] }
const answering = (answer: object): Sale => ({ answer: (purchase) => sold(purchase, answer) })
const broken: Sale = { answer: (purchase) => sold(purchase, {}, purchase.unitsMax, 500) }
const runPlan = async (sale: Sale) => (await openEngine(app, { '/a': sale }).run(orderOf(plan))).job.id
const get = (id: string) => ask(address, 'tasks/get', { taskId: id })
const toldBy = (id: string) => tasks.session.task(taskId(id))
const getJob = async (id: string) =>
  membersOf((await ask(address, 'tools/call', { name: 'get_job', arguments: { job_id: id } })).result)
const methods = ['tasks/get', 'tasks/update', 'tasks/cancel']

describe('a client that does not declare it', () => {
  const undeclared = {
    ...{ code: -32_021, message: expect.any(String) },
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  }

  it.each(methods)('is told by %s what it has to declare', async (method) => {
    const given = { taskId: await place(app, orderOf(plan)), inputResponses: {} }
    for (const capabilities of [{}, { extensions: {} }, { extensions: { [TASKS]: null } }])
      for (const params of [given, {}, { taskId: 'x' }])
        expect(await ask(address, method, params, { capabilities })).toEqual({
          ...{ status: 400, error: undeclared },
        })
  })

  it('is told so too where it asks for news of tasks; others have nothing to subscribe to', async () => {
    const filter = { notifications: { taskIds: [randomUUID()] } }
    const told = await ask(address, 'subscriptions/listen', filter, { capabilities: {} })
    expect(told).toEqual({ status: 400, error: undeclared })
    expect(await ask(address, 'subscriptions/listen', filter)).toMatchObject({ error: { code: -32_603 } })
  })

  it('and speaks an older revision sees nothing of it', async () => {
    const send = async (method: string, params: object) => {
      const headers = {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        'mcp-protocol-version': '2025-11-25',
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const answer = await fetch(`${address}/mcp`, { method: 'POST', headers, body })
      return JSON.parse(await answer.text())
    }
    for (const method of methods)
      expect(await send(method, { taskId: randomUUID() })).toMatchObject({ error: { code: -32_601 } })
    const clientInfo = { name: 'c', version: '1' }
    const introduced = await send('initialize', {
      ...{ protocolVersion: '2025-11-25', capabilities: declaring, clientInfo },
    })
    expect(introduced.result.capabilities).toEqual({ tools: {} })
  })
})

it('server/discover tells the extension, and the list of tools is one for all', async () => {
  const { result } = await ask(address, 'server/discover', {}, { capabilities: {} })
  expect(result).toMatchObject({ capabilities: { tools: {}, extensions: { [TASKS]: {} } } })
  const listed = await Promise.all(
    [{}, declaring].map((capabilities) => ask(address, 'tools/list', {}, { capabilities })),
  )
  expect(listed[0]).toEqual(listed[1])
})

describe('a task', () => {
  it('is working while its job is, with how often to ask and until when it is kept', async () => {
    const id = await place(app, orderOf(plan))
    const { status, result } = await get(id)
    const task = {
      ...{ taskId: id, status: 'working', statusMessage: '0 of 2 nodes have ended.' },
      // A job ends within six hours, and its results are kept for a day here.
      ...{ ttlMs: expect.any(Number), pollIntervalMs: 2_000 },
    }
    expect([status, result]).toMatchObject([200, { ...task, resultType: 'complete' }])
    const { ttlMs, createdAt, lastUpdatedAt } = await toldBy(id)
      .snapshot()
      .then(({ raw }) => membersOf(raw))
    expect(Math.abs(Number(ttlMs) - 30 * 3_600_000)).toBeLessThan(60_000)
    expect(Date.parse(`${lastUpdatedAt}`)).toBeGreaterThanOrEqual(Date.parse(`${createdAt}`))
  })

  it('has the result that get_job tells, and keeps it for a day', async () => {
    const id = await runPlan(answering({ hello: 'you' }))
    const job = await app.selectFrom('app.jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const { result } = await get(id.toUpperCase())
    const { content, structuredContent } = await getJob(id)
    expect(result).toMatchObject({
      ...{ taskId: id, status: 'completed', statusMessage: 'The job has ended: succeeded.' },
      ttlMs: Number(job.ended_at) + 86_400_000 - Number(job.created_at),
      lastUpdatedAt: expect.stringMatching(/Z$/),
      result: { resultType: 'complete', content, structuredContent },
    })
    expect(membersOf(result)['pollIntervalMs']).toBeUndefined()
    expect(await toldBy(id).result()).toMatchObject({
      status: 'completed',
      result: { structuredContent: { job: { jobId: id, ok: true, result: { a: { hello: 'you' } } } } },
    })
  })

  it('of a job that failed has its result, which says why', async () => {
    const id = await runPlan(broken)
    expect(await toldBy(id).result()).toMatchObject({
      status: 'completed',
      result: { structuredContent: { job: { ok: false, status: 'failed', error: { code: 'job_failed' } } } },
    })
  })

  it('of a job that was cancelled is cancelled', async () => {
    const id = await place(app, orderOf(plan))
    await requestCancel(app, id)
    await openEngine(app, {}).ended(id)
    expect((await get(id)).result).toMatchObject({ taskId: id, status: 'cancelled' })
    expect(await toldBy(id).result()).toMatchObject({ status: 'cancelled' })
  })

  it('with more than an answer holds leads to get_job', async () => {
    const id = await runPlan(answering({ text: 'x'.repeat(2_200_000) }))
    const { result } = membersOf((await get(id)).result)
    expect(membersOf(result)).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).toContain('Call get_job with node_ids of what details list.')
  })

  it('takes answers that nothing asked for, and changes nothing', async () => {
    const id = await place(app, orderOf(plan))
    const before = await get(id)
    const inputResponses = { name: { action: 'accept', content: { input: 'Luca' } } }
    const { status, result } = await ask(address, 'tasks/update', { taskId: id, inputResponses })
    expect([status, membersOf(result)['resultType']]).toEqual([200, 'complete'])
    await toldBy(id).updateJson(inputResponses)
    expect(await get(id)).toEqual(before)
  })

  it('is cancelled by nobody where no jobs are sold', async () => {
    const id = await place(app, orderOf(plan))
    expect(await ask(address, 'tasks/cancel', { taskId: id })).toMatchObject({
      error: { code: -32_000, data: { error: { code: 'payment_required' } } },
    })
  })
})

describe.each(methods)('%s', (method) => {
  const refused = async (given: object) => {
    const { status, error } = await ask(address, method, { inputResponses: {}, ...given })
    return {
      status,
      code: error?.code,
      message: error?.message,
      ...membersOf(membersOf(error?.data)['error']),
    }
  }

  it.each([
    [{}, 'params.taskId is required.'],
    [{ taskId: null }, 'params.taskId is required.'],
    [{ taskId: 5 }, 'params.taskId must be a text.'],
    [{ taskId: 'x' }, 'params.taskId must be a UUID.'],
    [{ taskId: `${randomUUID()}0` }, 'params.taskId must be a UUID.'],
    [{ taskId: randomUUID() }, 'params.taskId is of no task.'],
  ])('names what is wrong with %j', async (given, message) => {
    expect(await refused(given)).toMatchObject({ message, details: [{ path: ['params', 'taskId'] }] })
    const { error } = await ask(address, method, { inputResponses: {}, ...given })
    expect(error?.code).toBe(-32_602)
  })

  it('wants the id in its header too, as the revision has it', async () => {
    const id = await place(app, orderOf(plan))
    const told = await ask(address, method, { taskId: id }, { headers: { 'mcp-name': randomUUID() } })
    expect(told).toMatchObject({ status: 400, error: { code: -32_020 } })
  })
})

it.each([
  [undefined, 'params.inputResponses is required.'],
  ['yes', 'params.inputResponses must be an object.'],
])('answers to a task are an object: %j', async (inputResponses, message) => {
  const given = {
    taskId: await place(app, orderOf(plan)),
    ...(inputResponses !== undefined && { inputResponses }),
  }
  const { error } = await ask(address, 'tasks/update', given)
  expect(error).toMatchObject({ code: -32_602, message })
})

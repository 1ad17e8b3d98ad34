// Goal: an agent reads a job and its results, reviews it once, and reads what became of the reward.
// Method: the door on loopback, asked by the client of either revision, which checks answers against
// the tools' schemas; an engine with scripted sellers runs the jobs.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { membersOf } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type Agent, agents } from '../support/mcpClients.ts'
import { openDoors } from '../support/server.ts'
import { openEngine } from './support/engine.ts'
import { node, orderOf, place } from './support/jobOrder.ts'
import { type Sale, sold } from './support/scriptedSellers.ts'

let app: AppDatabase
let address: string
const ends: (() => unknown)[] = []

beforeAll(async () => {
  const doors = await openDoors((end) => void ends.push(end))
  app = doors.catalog.app
  address = doors.address
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const answering = (answer: object): Sale => ({ answer: (purchase) => sold(purchase, answer) })
/** Some megabytes, of which two are too many for one answer. */
const large = answering({ text: 'x'.repeat(2_200_000) })
const plan = { nodes: [node('a'), node('b', { path: '/a', dependsOn: ['a'] })] }
const runPlan = async (sales: Readonly<Record<string, Sale>>) =>
  (await openEngine(app, sales).run(orderOf(plan))).job.id
const rated = (...ids: string[]) => ids.map((nodeId) => ({ nodeId, rating: 4 }))

describe.each(agents)('an agent of $revision', ({ connect }) => {
  let agent: Agent
  beforeAll(async () => {
    agent = await connect(address)
    ends.push(agent.close)
  })

  const call = async (name: string, given: Readonly<Record<string, unknown>>) => {
    const { structuredContent, isError } = await agent.call(name, given)
    expect(isError).toBeUndefined()
    return membersOf(structuredContent)
  }
  const failure = async (name: string, given: Readonly<Record<string, unknown>>) => {
    const { content, isError } = await agent.call(name, given)
    expect(isError).toBe(true)
    const [first] = Array.isArray(content) ? content : []
    return JSON.parse(first.text)
  }

  it('reads a job that runs, and its results once it has ended', async () => {
    const waiting = await place(app, orderOf(plan))
    expect(await call('get_job', { job_id: waiting })).toMatchObject({
      job: { jobId: waiting, ready: false, runs: [{ nodeId: 'a' }, { nodeId: 'b' }] },
    })
    const jobId = await runPlan({ '/a': answering({ hello: 'you' }) })
    const { job } = await call('get_job', { job_id: jobId })
    expect(job).toMatchObject({
      ...{ jobId, ready: true, ok: true, status: 'succeeded' },
      result: { a: { hello: 'you' }, b: { hello: 'you' } },
      usage: { currency: 'USDC', paymentMethod: 'charge' },
    })
    const byRest = await fetch(`${address}/v1/jobs/${jobId}?include=runs`)
    expect(job).toEqual(await byRest.json())
    expect(await call('get_job', { jobId, nodeIds: ['b'] })).toMatchObject({
      job: { result: { b: { hello: 'you' } } },
    })
  })

  it('reads numbers with all their digits, as REST tells them', async () => {
    const body = Buffer.from('{\n "wei": 123456789012345678901234567890, "price": 1.50 }')
    const jobId = await runPlan({ '/a': { answer: (purchase) => ({ ...sold(purchase, {}), body }) } })
    const { content } = await agent.call('get_job', { job_id: jobId })
    const [first] = Array.isArray(content) ? content : []
    const byRest = await fetch(`${address}/v1/jobs/${jobId}?include=runs`)
    const whole = await byRest.text()
    expect(whole).toContain(`{"a":${body},"b":${body}}`)
    expect(first.text).toBe(`{"job":${whole}}`)
  })

  it('reads large outputs one after the other', async () => {
    const jobId = await runPlan({ '/a': large })
    const { error, next_action: next } = await failure('get_job', { job_id: jobId })
    expect(error).toMatchObject({
      code: 'parameter_conflict',
      details: [{ message: expect.stringMatching(/^a: 2200/) }, {}],
    })
    expect(next).toContain('details')
    const { job } = await call('get_job', { job_id: jobId, node_ids: ['a'] })
    expect(Object.keys(membersOf(membersOf(job)['result']))).toEqual(['a'])
  })

  it('reviews a job once', async () => {
    const jobId = await runPlan({ '/a': answering({}) })
    const none = { status: 'ineligible', reason: 'not_reviewed' }
    expect(await call('get_job_review', { job_id: jobId })).toEqual({ jobId, reward: none })
    const review = { rating: 5, comment: 'Did what it said.', tools: rated('a', 'b') }
    const reward = { status: 'ineligible', reason: 'rewards_disabled' }
    for (const _ of [1, 2])
      expect(await call('create_job_review', { job_id: jobId, ...review })).toEqual({ jobId, reward })
    const byRest = await fetch(`${address}/v1/jobs/${jobId}/feedback`)
    expect(byRest.status).toBe(200)
    expect(await call('get_job_review', { job_id: jobId })).toEqual(await byRest.json())
    const other = await failure('create_job_review', { job_id: jobId, ...review, rating: 1 })
    expect(other).toMatchObject({ error: { code: 'idempotency_conflict' } })
  })

  it('is told that nothing is stored while a job runs, and what was wrong', async () => {
    const jobId = await place(app, orderOf(plan))
    const reward = { status: 'ineligible', reason: 'job_not_ready' }
    expect(await call('create_job_review', { job_id: jobId, rating: 3 })).toEqual({ jobId, reward })
    const unknownNode = await failure('create_job_review', { job_id: jobId, rating: 3, tools: rated('c') })
    expect(unknownNode.error.details).toMatchObject([{ path: ['arguments', 'tools', 0, 'nodeId'] }])
    const tooHigh = await failure('create_job_review', { job_id: jobId, rating: 6 })
    expect(tooHigh.error.details).toMatchObject([{ path: ['arguments', 'rating'] }])
    for (const name of ['get_job', 'get_job_review']) {
      expect((await failure(name, { job_id: randomUUID() })).error.code).toBe('job_not_found')
      expect((await failure(name, { job_id: '1' })).error.code).toBe('body_invalid')
    }
  })
})

test.each([
  ['one answer', 'application/json', (message: object) => message],
  ['answers together', 'application/json', (message: object) => [message, { ...message, id: 2 }]],
  ['events', 'text/event-stream', (message: object) => [message, { ...message, id: 2 }]],
])('numbers keep their digits in %s', async (_, accept, asked) => {
  const wei = '123456789012345678901234567890'
  const body = Buffer.from(`{"wei":${wei},"price":1.50}`)
  const jobId = await runPlan({ '/a': { answer: (purchase) => ({ ...sold(purchase, {}), body }) } })
  const params = { name: 'get_job', arguments: { job_id: jobId } }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const headers = { 'content-type': 'application/json', accept, 'mcp-protocol-version': '2025-03-26' }
  const response = await fetch(`${address}/mcp`, {
    ...{ method: 'POST', headers, body: JSON.stringify(asked(message)) },
  })
  const text = await response.text()
  const byRest = await fetch(`${address}/v1/jobs/${jobId}?include=runs`)
  const answers = [asked(message)].flat().length
  expect(text.split(`"structuredContent":{"job":${await byRest.text()}}`)).toHaveLength(answers + 1)
})

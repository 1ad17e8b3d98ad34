// Goal: what an agent buys by create_job is a durable task: any process on the same rows answers for
// it, up to its result, and the account that bought the job alone cancels it.
// Method: the doors of two servers on one database and a dev chain, asked by the client that the tasks
// extension publishes; the payment library's client signs payments and proofs.
import { randomUUID } from 'node:crypto'
import { taskId } from '@modelcontextprotocol/ext-tasks/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { itemsOf, membersOf } from '#primitives.ts'
import { accountOf } from '../../../payments/support/shop.ts'
import { agents } from '../../support/mcpClients.ts'
import { ask, connectTasks, credentialFor, credentialMeta, jsonOf } from '../../support/taskClient.ts'
import { openEngine } from '../support/engine.ts'
import { hashing, startJobShop } from '../support/jobShop.ts'
import { type Sale, sold } from '../support/scriptedSellers.ts'

let started: Awaited<ReturnType<typeof startJobShop>>
let tasks: Awaited<ReturnType<typeof connectTasks>>
const ends: (() => unknown)[] = []
const [buyer, stranger] = [accountOf(2), accountOf(3)]

beforeAll(async () => {
  started = await startJobShop((end) => void ends.push(end), 22)
  tasks = await connectTasks(started.shop.origin)
  ends.push(tasks.close)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const chain = () => ({ rpcUrl: started.chain.rpcUrl, chainId: 1337 })
const origin = () => started.shop.origin
const echo: Sale = { answer: (purchase) => sold(purchase, { hash: purchase.nodeId }) }
const newOrder = (text: string) =>
  jsonOf({
    idempotency_key: randomUUID(),
    plan: { nodes: hashing(text).nodes.map((node) => ({ ...node, dependsOn: [] })) },
  })

/** The buyer's payment, signed for the order, to be sent in `_meta`. */
async function paymentFor(order: object, account = buyer) {
  const { result } = await ask(origin(), 'tools/call', { name: 'create_job', arguments: order })
  const required = membersOf(membersOf(result)['_meta'])['org.paymentauth/payment-required']
  return credentialMeta(await credentialFor(required, account, chain()))
}

async function buyTask(text: string) {
  const order = newOrder(text)
  const execution = await tasks.session.callTool('create_job', order, { metadata: await paymentFor(order) })
  if (execution.kind !== 'task') throw new Error('it is no task')
  return { order, execution, id: `${execution.handle.taskId}` }
}

const states = (id: string) =>
  started.shop.catalog.app.selectFrom('app.jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

test('without a payment it is the request that buys the plan, as for every client', async () => {
  const order = newOrder('unpaid')
  const immediate = await tasks.session.callTool('create_job', order)
  expect(immediate.kind).toBe('immediate')
  expect(await immediate.result()).toMatchObject({
    status: 'completed',
    result: {
      ...{ resultType: 'complete', structuredContent: { handoff: { maxSpend: '0.0001' } } },
      _meta: { 'org.paymentauth/payment-required': { httpStatus: 402 } },
    },
  })
})

test('is told with its receipt, and is one for one key', async () => {
  const order = newOrder('one')
  const _meta = await paymentFor(order)
  const buy = () => ask(origin(), 'tools/call', { name: 'create_job', arguments: order, _meta })
  const { status, result } = await buy()
  const task = { resultType: 'task', status: 'working', pollIntervalMs: 2_000, ttlMs: expect.any(Number) }
  expect([status, result]).toMatchObject([200, { ...task, statusMessage: '0 of 1 nodes have ended.' }])
  expect(membersOf(result)['_meta']).toMatchObject({ 'org.paymentauth/receipt': { status: 'success' } })
  const { taskId: id } = membersOf(result)
  expect((await states(`${id}`)).idempotency_key).toBe(order.idempotency_key)
  expect((await buy()).result).toMatchObject({ taskId: id, resultType: 'task' })
})

test('a task that one process made is answered by another, up to its result', async () => {
  const { execution, id } = await buyTask('durable')
  const reference = execution.serializeReference()
  await execution.detach()
  // No process but the other one is asked from here on.
  const other = await started.shop.serve()
  const elsewhere = await connectTasks(other.origin)
  ends.push(elsewhere.close)
  expect(await elsewhere.session.task(taskId(id)).snapshot()).toMatchObject({ status: 'working' })
  await openEngine(started.shop.catalog.app, { '/hash': echo }).ended(id)
  const resumed = await elsewhere.session.resumeTask(reference)
  const { outcome } = await resumed.settle()
  expect(outcome).toMatchObject({
    status: 'completed',
    result: { structuredContent: { job: { jobId: id, ok: true, result: { hash: { hash: 'hash' } } } } },
  })
  // So says the tool, to a client that checks it against its schema.
  for (const { connect } of agents) {
    const agent = await connect(other.origin)
    const { structuredContent } = await agent.call('get_job', { job_id: id })
    expect(outcome).toMatchObject({ result: { structuredContent } })
    await agent.close()
  }
})

test('is cancelled by the account that bought it, and by no other', async () => {
  const { id } = await buyTask('cancelled')
  const cancel = (headers: Readonly<Record<string, string>> = {}) =>
    ask(origin(), 'tasks/cancel', { taskId: id }, { headers })
  const { error } = await cancel()
  expect(error).toMatchObject({ code: -32_042, data: { httpStatus: 402 } })
  const [challenge] = itemsOf(membersOf(error?.data)['challenges'])
  expect(challenge).toMatchObject({ intent: 'charge', request: { amount: '0' } })

  const byStranger = await credentialFor(error?.data, stranger, chain())
  expect((await cancel({ authorization: byStranger })).error).toMatchObject({
    ...{ code: -32_602, message: 'Another account bought this job.' },
    data: { error: { code: 'forbidden' } },
  })
  expect((await states(id)).cancel_requested_at).toBeNull()

  const proof = await credentialFor((await cancel()).error?.data, buyer, chain())
  await tasks.session.task(taskId(id), { headers: { authorization: proof } }).cancel()
  expect((await states(id)).cancel_requested_at).not.toBeNull()
  // A proof holds once.
  expect((await cancel({ authorization: proof })).error).toMatchObject({ code: -32_043 })
  await openEngine(started.shop.catalog.app, { '/hash': echo }).ended(id)
  expect(await tasks.session.task(taskId(id)).snapshot()).toMatchObject({ status: 'cancelled' })
})

test('a proof that was given by REST holds here, and the other way round', async () => {
  const { id } = await buyTask('both')
  const path = `${origin()}/v1/jobs/${id}/cancel`
  const byTask = await ask(origin(), 'tasks/cancel', { taskId: id })
  const authorization = await credentialFor(byTask.error?.data, buyer, chain())
  const cancelled = await fetch(path, { method: 'POST', headers: { authorization } })
  expect([cancelled.status, await cancelled.json()]).toEqual([200, { jobId: id, ready: false }])
  // Asking again changes nothing.
  const again = await ask(origin(), 'tasks/cancel', { taskId: id })
  const _meta = credentialMeta(await credentialFor(again.error?.data, buyer, chain()))
  const { status, result } = await ask(origin(), 'tasks/cancel', { taskId: id, _meta })
  expect([status, membersOf(result)['resultType']]).toEqual([200, 'complete'])
})

test.each(agents)(
  'a client of $revision that does not declare tasks gets its job as before',
  async (agentOf) => {
    const agent = await agentOf.connect(origin())
    const order = newOrder(agentOf.revision)
    const told = await agent.call('create_job', order, await paymentFor(order))
    expect(told['structuredContent']).toEqual({ job: { jobId: expect.any(String), ready: false } })
    expect(told['taskId']).toBeUndefined()
    await agent.close()
  },
)

// Goal: a stranger finds services, has a plan priced, pays, gets its results, reviews it and is rewarded.
// Method: the program as it starts, on its dev chain with the shipped
// sellers; the payer is the payment library's client, over HTTP and over the agents' protocol in either
// revision, and the chain's own index tells what was moved.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { completePlan } from '#orchestrator/plan/plan.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import { demoPlan } from '../../orchestrator/jobs/support/demoPlan.ts'
import { agents } from '../../orchestrator/support/mcpClients.ts'
import {
  ask,
  connectTasks,
  credentialFor,
  credentialMeta,
  jsonOf,
} from '../../orchestrator/support/taskClient.ts'
import { commandsOf, fundedStranger } from '../support/fundedStranger.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from '../support/millrace.ts'
import { holdPaidCall } from '../support/paidCall.ts'
import { openPayersFolder } from '../support/recipes.ts'

const dataDir = freshDataDir()
let program: RunningMillrace
beforeAll(async () => {
  program = await startMillrace({ DATA_DIR: dataDir.path })
  await blockIndexed(program, 1)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

const millrace = commandsOf(dataDir.path, () => program.port)
const stranger = () => fundedStranger(millrace)
const read = async (path: string) => {
  const answer = await fetch(program.origin + path)
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}
const post = async (path: string, body: unknown, send: typeof fetch = fetch) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await send(program.origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
}

/** The index of the same program has the reward, to the payer and in its amount. */
async function rewardIndexed(address: string, amount: unknown, transactionHash: unknown) {
  const transfers = async () => (await read(`/v1/transfers?recipient=${address}&limit=50`)).body.data
  const units = `${Math.round(Number(amount) * 1e6)}`
  await expect
    .poll(transfers)
    .toContainEqual(
      expect.objectContaining({ transactionHash, sourceToken: expect.objectContaining({ amount: units }) }),
    )
}

test('from a question to a reward', async () => {
  const { address, pay } = await stranger()
  const found = await read('/v1/services/search?query=how+long+is+the+day&limit=3')
  expect(found.body.endpoints[0]).toMatchObject({ serviceId: 'demo-sun' })

  const quote = await post('/v1/quote', demoPlan)
  expect(quote.status).toBe(200)
  const ordered = { idempotencyKey: randomUUID(), plan: demoPlan }
  expect((await post('/v1/jobs', ordered)).status).toBe(402)
  const made = await post('/v1/jobs', ordered, pay)
  expect([made.status, made.headers.has('payment-receipt')]).toEqual([200, true])
  const { jobId } = made.body
  // The same again is the same job, and is not paid for.
  expect((await post('/v1/jobs', ordered, pay)).body.jobId).toBe(jobId)

  await expect.poll(async () => (await read(`/v1/jobs/${jobId}`)).status).toBe(200)
  const { body: job } = await read(`/v1/jobs/${jobId}?include=runs`)
  expect(job).toMatchObject({ ready: true, status: 'partially_succeeded', ok: false })
  expect(Object.keys(job.result)).toEqual(expect.arrayContaining(['paris', 'report', 'summary']))

  const called = job.runs.filter(({ attempts }: { attempts: unknown[] }) => attempts.length > 0)
  const tools = called.map(({ nodeId }: { nodeId: string }) => ({ nodeId, rating: 4 }))
  const review = { rating: 4, comment: 'One of them failed, as asked.', tools }
  // A review of anybody who knows the id gives way to the one that the payer proves to have given.
  const unproved = await post(`/v1/jobs/${jobId}/feedback`, { rating: 1, tools })
  expect(unproved).toMatchObject({ status: 201, body: { reward: { reason: 'payer_unproved' } } })
  const reviewed = await post(`/v1/jobs/${jobId}/feedback`, review, pay)
  expect(reviewed).toMatchObject({ status: 201, body: { reward: { status: 'queued' } } })
  const rewardOf = async () => (await read(`/v1/jobs/${jobId}/feedback`)).body.reward
  await expect.poll(async () => (await rewardOf()).status).toBe('paid')
  const { amount, transactionHash } = await rewardOf()

  await rewardIndexed(address, amount, transactionHash)
  await expect
    .poll(async () => JSON.parse(await millrace('payments', 'audit', '--json')))
    .toMatchObject({ isRight: true, unbalanced: [], differing: [] })
})

test('the first plan of docs/services.md is quoted, bought and delivered', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/services.md'), 'utf8')
  const plan = JSON.parse(/\/v1\/quote .*? -d '(.*?)'/s.exec(page)?.[1] ?? '')
  const { pay } = await stranger()
  expect((await post('/v1/quote', plan)).status).toBe(200)
  const made = await post('/v1/jobs', { idempotencyKey: randomUUID(), plan }, pay)
  expect(made.status).toBe(200)
  const path = `/v1/jobs/${made.body.jobId}`
  await expect.poll(async () => (await read(path)).status).toBe(200)
  const { body: job } = await read(`${path}?include=runs`)
  expect([job.status, job.error]).toEqual(['succeeded', undefined])
  const ids = plan.nodes.map(({ id }: { id: string }) => id)
  expect(Object.keys(job.result).toSorted()).toEqual(ids.toSorted())
  // Own chain data is among them, and is free.
  expect(job.result.block).toMatchObject({ number: expect.any(Number) })
})

test('a receipt is proved by a command that asks nobody, and a changed one is not', async () => {
  const { pay } = await stranger()
  const made = await post('/v1/jobs', { idempotencyKey: randomUUID(), plan: demoPlan }, pay)
  const path = `/v1/jobs/${made.body.jobId}/receipt`
  // Its block becomes final as others are mined.
  const proved = async () => (await read(path)).body.transfer ?? null
  await expect.poll(proved, { interval: 500 }).not.toBeNull()
  const text = await (await fetch(program.origin + path)).text()
  const [key] = (await read('/v1/receipt-keys')).body.keys
  const prove = async (receipt: string, ...args: string[]) => {
    const file = join(dataDir.path, 'receipt.json')
    writeFileSync(file, receipt)
    const told = millrace('prove', 'receipt', file, '--json', ...args)
    const ended = await told.then((stdout) => ({ code: 0, stdout })).catch((error: unknown) => Object(error))
    return { code: ended.code, ...JSON.parse(ended.stdout) }
  }
  expect(await prove(text, '--key', key.x)).toEqual({
    ...{ code: 0, holds: true, jobId: made.body.jobId, key: key.kid, problems: [] },
  })
  expect(await prove(text.replace(/"amount":"\d/, '"amount":"9'), '--key', key.x)).toMatchObject({
    ...{ code: 1, holds: false },
    problems: expect.arrayContaining([expect.objectContaining({ part: 'nodes' })]),
  })
  expect(await prove(text, '--key', 'another')).toMatchObject({ code: 1, problems: [{ part: 'key' }] })
})

test.each(agents)('from a question to a reward, by the tools of $revision', async ({ connect }) => {
  const { account, address, chain } = await stranger()
  const agent = await connect(program.origin)
  agent.payAs(account, chain)
  const call = async (name: string, given: Readonly<Record<string, unknown>>) => {
    const told = await agent.call(name, given)
    expect(told['isError'], JSON.stringify(told['content'])).toBeUndefined()
    return { ...membersOf(told['structuredContent']), _meta: membersOf(told['_meta']) }
  }
  try {
    const found = membersOf(await call('search_services', { query: 'how long is the day' }))
    expect(itemsOf(found['endpoints'])[0]).toMatchObject({ serviceId: 'demo-sun' })
    const plan = completePlan(demoPlan)
    const { totalAmount } = membersOf(await call('quote_plan', { plan }))
    const order = { idempotency_key: randomUUID(), plan, max_spend: totalAmount }
    const made = membersOf(await call('create_job', order))
    expect(made['_meta']).toHaveProperty(['org.paymentauth/receipt', 'status'], 'success')
    const { jobId } = membersOf(made['job'])
    expect(membersOf(membersOf(await call('create_job', order))['job'])['jobId']).toBe(jobId)

    const job = async () => membersOf(membersOf(await call('get_job', { job_id: jobId }))['job'])
    await expect.poll(async () => (await job())['ready']).toBe(true)
    const { status, result, runs } = await job()
    expect([status, Object.keys(membersOf(result))]).toEqual([
      'partially_succeeded',
      expect.arrayContaining(['paris', 'report', 'summary']),
    ])

    const called = itemsOf(runs).map(membersOf)
    const tools = called
      .filter(({ attempts }) => itemsOf(attempts).length > 0)
      .map(({ nodeId }) => ({ nodeId, rating: 4 }))
    const reviewed = await call('create_job_review', { job_id: jobId, rating: 4, tools })
    expect(reviewed).toMatchObject({ jobId, reward: { status: 'queued' } })
    const rewardOf = async () =>
      membersOf(membersOf(await call('get_job_review', { job_id: jobId }))['reward'])
    await expect.poll(async () => (await rewardOf())['status']).toBe('paid')
    const { amount, transactionHash } = await rewardOf()
    await rewardIndexed(address, amount, transactionHash)
  } finally {
    await agent.close()
  }
})

test.each(agents)('the command that $revision is handed buys the plan', async ({ connect }) => {
  const { key, chain } = await stranger()
  const agent = await connect(program.origin)
  onTestFinished(agent.close)
  const order = { idempotency_key: randomUUID(), plan: completePlan(demoPlan) }
  const { structuredContent } = await agent.call('create_job', order)
  const { client } = membersOf(membersOf(structuredContent)['handoff'])
  const { executable, arguments: args } = membersOf(client)
  const folder = openPayersFolder(key, program.origin, {
    MPPX_PRIVATE_KEY: key,
    MPPX_RPC_URL: chain.rpcUrl,
  })
  onTestFinished(folder.remove)
  const quoted = [executable, ...itemsOf(args)].map((word) => `'${`${word}`.replaceAll("'", `'\\''`)}'`)
  const [jobId] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await folder.commands(quoted.join(' '))) ?? []
  expect((await read(`/v1/jobs/${jobId}`)).body).toMatchObject({ jobId })
})

test('the demo walks the same way, and is rewarded', async () => {
  const told = await millrace('demo')
  for (const step of [
    'GET   /v1/services/search',
    'POST  /v1/quote',
    'POST  /v1/jobs  402',
    '200, with a payment',
  ])
    expect(told).toContain(step)
  expect(told).toMatch(
    /report: waiting[\s\S]*the job: succeeded[\s\S]*a reward of \S+ USDC is queued\n\s+paid by 0x/,
  )
  expect(told).toContain('The books are right to the unit')
})

test('a stop waits for the calls that are paid for, and the next start goes on from their answers', async () => {
  const { pay } = await stranger()
  const nodes = Array.from({ length: 12 }, (_, at) => ({
    ...{ id: `say${at}`, serviceId: 'demo-moody', method: 'POST', path: '/echo' },
    input: { message: at },
  }))
  const made = await post('/v1/jobs', { idempotencyKey: randomUUID(), plan: { nodes } }, pay)
  const goOn = await holdPaidCall(dataDir.path)
  const stopped = program
  const ended = stopped.stop()
  const isWaiting = async () => {
    while (!/the end waits for answers to calls/.test(stopped.stderr()))
      await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await Promise.race([isWaiting(), ended])
  goOn()
  expect((await ended).code).toBe(0)

  program = await startMillrace({ DATA_DIR: dataDir.path })
  const path = `/v1/jobs/${made.body.jobId}?include=runs`
  await expect.poll(async () => (await read(path)).status).toBe(200)
  const { body: job } = await read(path)
  const ends = job.runs.map(({ state, error, attempts }: Record<string, unknown>) => ({
    ...{ state, error, paid: itemsOf(attempts).filter((each) => membersOf(each)['paid']).length },
  }))
  expect(ends).toEqual(Array(12).fill({ state: 'succeeded', paid: 1 }))
})

test('a task outlives the program that made it', async () => {
  const { account, chain } = await stranger()
  const before = await connectTasks(program.origin)
  const ordered = jsonOf({ idempotency_key: randomUUID(), plan: completePlan(demoPlan) })
  const asked = await ask(program.origin, 'tools/call', { name: 'create_job', arguments: ordered })
  const required = membersOf(membersOf(asked.result)['_meta'])['org.paymentauth/payment-required']
  const metadata = credentialMeta(await credentialFor(required, account, chain))
  const execution = await before.session.callTool('create_job', ordered, { metadata })
  if (execution.kind !== 'task') throw new Error('it is no task')
  const reference = execution.serializeReference()
  await program.kill()
  await before.close()

  program = await startMillrace({ DATA_DIR: dataDir.path, COST_MULTIPLIER: '1.5' })
  const after = await connectTasks(program.origin)
  try {
    const { outcome } = await (await after.session.resumeTask(reference)).settle()
    const job = { jobId: reference.taskId, ready: true, status: 'partially_succeeded' }
    expect(outcome).toMatchObject({ status: 'completed', result: { structuredContent: { job } } })
    // Not its order: a refund goes on after the task's end.
    const { result, runs } = (await read(`/v1/jobs/${reference.taskId}?include=runs`)).body
    expect(runs).not.toEqual([])
    expect(outcome).toMatchObject({ result: { structuredContent: { job: { result, runs } } } })
  } finally {
    await after.close()
  }
})

test('the books of all of it follow from rows and chain, and income and cost come as CSV', async () => {
  await expect
    .poll(async () => JSON.parse(await millrace('books', 'check', '--json')))
    .toMatchObject({ isRight: true, differences: [], unbalanced: [], unbooked: [], missent: [], open: 0 })
  const [header, ...lines] = (await millrace('books', 'export')).trim().split('\n')
  expect(header).toBe('day,kind,service,payer,chain_id,currency,amount,count')
  const amounts = (kind: string) =>
    lines
      .map((line) => line.split(','))
      .flatMap(([, of, , , , , amount]) => (of === kind ? Number(amount) : []))
  expect(amounts('payment').every((amount) => amount > 0)).toBe(true)
  for (const kind of ['payment', 'refund', 'reward', 'cost']) expect(amounts(kind), kind).not.toEqual([])
  for (const kind of ['refund', 'reward', 'cost'])
    expect(
      amounts(kind).every((amount) => amount < 0),
      kind,
    ).toBe(true)
})

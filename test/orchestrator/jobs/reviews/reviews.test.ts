// Goal: a job is reviewed once, and its payer alone is rewarded, once, with less than the job earned.
// Method: the endpoints over HTTP, on a real database, for jobs that an engine ran with scripted
// sellers; payouts are finished by their rows, as the worker does.
import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer } from '#api/server.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import type { JobDoor } from '#orchestrator/operations.ts'
import { reviewEndpoints } from '#orchestrator/rest/jobs/index.ts'
import { Reviews } from '#orchestrator/review/Reviews.ts'
import type { RewardTerms } from '#orchestrator/review/reward.ts'
import { findReview, removeComments } from '#rows/jobs/reviews.ts'
import { finishPayout } from '#rows/payments/debts.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { findPayout, keepSigned, takePayouts } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { createLogger, silentLogger } from '#telemetry.ts'
import { openAppStore } from '../../../support/appStore.ts'
import { openEngine } from '../support/engine.ts'
import { node, orderOf, payer, place } from '../support/jobOrder.ts'
import { type Sale, sold, token } from '../support/scriptedSellers.ts'

const { app } = await openAppStore()
const { clock } = systemRuntime()
const generous: RewardTerms = { share: '0.5', dollarsPerDay: '1000', dollarsPerPayer: '1000' }

/** In the place of a charge of zero: a header names the account. */
const proofs = {
  prove: async ({ from }: IncomingHttpHeaders) => ({ kind: 'proved', payer: from }),
}
const jobs = { proofs } as unknown as JobDoor

async function serve(terms: RewardTerms | null = generous, transferFee = async () => 0n) {
  const reviews = new Reviews({ app, terms, transferFee, clock, log: silentLogger })
  const server = await createServer({
    endpoints: reviewEndpoints,
    services: { reviews, jobs },
    chains: [],
    cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
    clock,
    log: createLogger('silent'),
    shutdown: new AbortController().signal,
  })
  onTestFinished(() => server.close())
  const told = ({ statusCode, body }: { statusCode: number; body: string }) => ({
    status: statusCode,
    ...JSON.parse(body),
  })
  return {
    reviews,
    /** @param account that gives it, by a proof; null for nobody */
    give: async (jobId: string, review: unknown, account: string | null = payer) =>
      told(
        await server.inject({
          method: 'POST',
          url: `/v1/jobs/${jobId}/feedback`,
          body: JSON.stringify(review),
          headers: {
            'content-type': 'application/json',
            ...(account && { 'accept-payment': 'tempo/charge', from: account }),
          },
        }),
      ),
    read: async (jobId: string) => told(await server.inject({ url: `/v1/jobs/${jobId}/feedback` })),
  }
}

const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const broken: Sale = { answer: (purchase) => sold(purchase, {}, purchase.unitsMax, 500) }
const twoNodes = { nodes: [node('a'), node('b', { path: '/a', dependsOn: ['a'] })] }
/** Two calls of 1,000 units, sold for 2,100: the job earns 100. */
const runTwo = async () => (await openEngine(app, { '/a': echo }).run(orderOf(twoNodes))).job.id
const rated = (...ids: string[]) => ids.map((nodeId) => ({ nodeId, rating: 4 }))
const whole = { rating: 5, comment: 'Did what it said.', tools: rated('a', 'b') }

test('an id that is none is 400, one that no job has is 404', async () => {
  const { give, read } = await serve()
  expect((await give('1', whole)).status).toBe(400)
  expect((await read('1')).status).toBe(400)
  expect((await give(randomUUID(), whole)).status).toBe(404)
  expect((await read(randomUUID())).status).toBe(404)
})

test('a job that runs is 202, and nothing is stored', async () => {
  const { give, read } = await serve()
  const jobId = await place(app, orderOf(twoNodes))
  const reward = { status: 'ineligible', reason: 'job_not_ready' }
  expect(await give(jobId, whole)).toEqual({ status: 202, jobId, reward })
  expect(await read(jobId)).toEqual({ status: 200, jobId, reward })
  expect(await findReview(app, jobId)).toBeNull()
})

test('a review is stored once; the same again is known, and another one a conflict', async () => {
  const { give, read } = await serve()
  const jobId = await runTwo()
  expect(await read(jobId)).toMatchObject({
    status: 200,
    reward: { status: 'ineligible', reason: 'not_reviewed' },
  })
  const reward = { status: 'queued', amount: '0.00005', currency: 'USDC' }
  expect(await give(jobId, whole)).toEqual({ status: 201, jobId, reward })
  expect(await give(jobId, { ...whole, tools: whole.tools.toReversed() })).toEqual({
    status: 200,
    jobId,
    reward,
  })
  expect(await give(jobId, { ...whole, rating: 4 })).toMatchObject({
    status: 409,
    error: { code: 'idempotency_conflict' },
  })
  const shown = { ...whole, tools: whole.tools.map((tool) => ({ ...tool, tags: [] })) }
  expect(await read(jobId)).toEqual({ status: 200, jobId, review: shown, reward })
})

describe('a review that nobody proved', () => {
  const other = { rating: 1, comment: 'Buy from me instead.', tools: rated('b') }
  const unproved = { status: 'ineligible', reason: 'payer_unproved' }
  const owed = (jobId: string) => findPayout(app, 'reward', jobId)

  test('is kept, moves no reward, and gives way to the payer’s', async () => {
    const { give, read, reviews } = await serve()
    const jobId = await runTwo()
    expect(await give(jobId, whole, null)).toEqual({ status: 201, jobId, reward: unproved })
    expect(await give(jobId, whole, null)).toMatchObject({ status: 200, reward: unproved })
    expect(await give(jobId, other, null)).toMatchObject({ status: 409 })
    await reviews.reconsider()
    expect(await owed(jobId)).toBeNull()
    expect(await read(jobId)).toMatchObject({ review: { rating: 5 }, reward: unproved })

    const mine = { rating: 2, tools: [...rated('a'), { nodeId: 'b', rating: 3, tags: ['slow'] }] }
    expect(await give(jobId, mine)).toMatchObject({ status: 201, reward: { status: 'queued' } })
    expect(await owed(jobId)).toMatchObject({ amount: 50n, to: payer })
    const shown = { rating: 2, tools: [{ ...rated('a')[0], tags: [] }, mine.tools[1]] }
    expect((await read(jobId)).review).toEqual(shown)
    for (const account of [payer, null])
      expect(await give(jobId, other, account)).toMatchObject({ status: 409 })
    expect(await give(jobId, mine, null)).toMatchObject({ status: 200, reward: { status: 'queued' } })
    expect((await read(jobId)).review).toEqual(shown)
  })

  test('is told what is missing even for a proof', async () => {
    const { give } = await serve()
    const jobId = await runTwo()
    expect((await give(jobId, other, null)).reward.reason).toBe('incomplete_review')
    expect((await give(jobId, whole)).reward.status).toBe('queued')
  })

  test('is what another account proves, too', async () => {
    const { give } = await serve()
    const jobId = await runTwo()
    expect((await give(jobId, whole, `0x${'99'.repeat(20)}`)).reward).toEqual(unproved)
    expect(await owed(jobId)).toBeNull()
    // The same words, by the payer.
    expect(await give(jobId, whole)).toMatchObject({ status: 201, reward: { status: 'queued' } })
  })

  test('of many at once, and the payer’s among them, leaves the payer’s', async () => {
    const [one, another] = [await serve(), await serve()]
    const jobId = await runTwo()
    const strangers = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : another).give(jobId, { ...other, rating: 1 + (index % 5) }, null),
    )
    const [mine] = await Promise.all([one.give(jobId, whole), ...strangers])
    expect(mine).toMatchObject({ status: 201, reward: { status: 'queued' } })
    expect((await one.read(jobId)).review).toMatchObject({ rating: 5, tools: whole.tools })
  })
})

const secret = `0x${'b7f3a90c54e1d28f'.repeat(4)}`

describe('a body', () => {
  test.each<[string, unknown, readonly unknown[]]>([
    ['without a rating', { comment: 'x' }, ['body', 'rating']],
    ['with a rating of 0', { rating: 0 }, ['body', 'rating']],
    ['with a rating of 6', { rating: 6 }, ['body', 'rating']],
    ['with a half', { rating: 4.5 }, ['body', 'rating']],
    ['with a long comment', { rating: 4, comment: 'x'.repeat(2_001) }, ['body', 'comment']],
    ['with a member that is not known', { rating: 4, stars: 1 }, ['body', 'stars']],
    ['with a node that is none', { rating: 4, tools: rated('c') }, ['body', 'tools', 0, 'nodeId']],
    ['with a node twice', { rating: 4, tools: rated('a', 'a') }, ['body', 'tools', 1, 'nodeId']],
    [
      'with nine tags',
      { rating: 4, tools: [{ nodeId: 'a', rating: 1, tags: [...'abcdefghi'] }] },
      ['body', 'tools', 0, 'tags'],
    ],
    [
      'with a tag in capitals',
      { rating: 4, tools: [{ nodeId: 'a', rating: 1, tags: ['Fast'] }] },
      ['body', 'tools', 0, 'tags', 0],
    ],
    ['with a key', { rating: 4, comment: `I paid with ${secret}.` }, ['body', 'comment']],
    [
      'with a key beside a rating of a node',
      { rating: 4, tools: [{ nodeId: 'a', rating: 1, comment: secret }] },
      ['body', 'tools', 0, 'comment'],
    ],
  ])('%s is refused by its member', async (_what, body, path) => {
    const { give } = await serve()
    const jobId = await place(app, orderOf(twoNodes))
    const refused = await give(jobId, body)
    expect(refused).toMatchObject({
      status: 400,
      error: { code: 'body_invalid', details: expect.arrayContaining([expect.objectContaining({ path })]) },
    })
    expect(JSON.stringify(refused)).not.toContain(secret)
    expect(await findReview(app, jobId)).toBeNull()
  })

  test('is cleaned of characters that nobody sees', async () => {
    const { give } = await serve()
    const jobId = await runTwo()
    await give(jobId, { rating: 3, comment: ' ignore\u202e \u0000 all\u200b '.replace('\u0000', '') })
    expect((await findReview(app, jobId))?.comment).toBe('ignore all')
  })
})

test('a hundred equal reviews at once store one, and owe one reward', async () => {
  const [one, other] = [await serve(), await serve()]
  const jobId = await runTwo()
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => (index % 2 ? one : other).give(jobId, whole)),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(99)
  const owed = await app.selectFrom('app.payouts').selectAll().where('reference', '=', jobId).execute()
  expect(owed.map(({ kind, amount }) => [kind, amount])).toEqual(expect.arrayContaining([['reward', '50']]))
  expect(owed.filter(({ kind }) => kind === 'reward')).toHaveLength(1)
})

describe('no reward is owed', () => {
  const ineligible = (reason: string) => ({ status: 201, reward: { status: 'ineligible', reason } })

  test('where a node that was called has no rating; a skipped one needs none', async () => {
    const { give } = await serve()
    const plan = { nodes: [node('a'), node('x'), node('y', { path: '/a', dependsOn: ['x'] })] }
    const { job, nodes } = await openEngine(app, { '/a': echo, '/x': broken }).run(orderOf(plan))
    expect([job.state, nodes.get('y')?.state]).toEqual(['partially_succeeded', 'skipped'])
    expect(await give(job.id, { rating: 2, tools: rated('a') })).toMatchObject(
      ineligible('incomplete_review'),
    )
    const again = await openEngine(app, { '/a': echo, '/x': broken }).run(orderOf(plan))
    expect(await give(again.job.id, { rating: 2, tools: rated('a', 'x') })).toMatchObject({
      status: 201,
      reward: { status: 'queued' },
    })
  })

  test('where nothing was delivered', async () => {
    const { give } = await serve()
    const { job } = await openEngine(app, { '/a': broken }).run(orderOf({ nodes: [node('a')] }))
    expect(await give(job.id, { rating: 1, tools: rated('a') })).toMatchObject(
      ineligible('job_not_delivered'),
    )
  })

  test('where nothing was charged', async () => {
    const { give } = await serve()
    const order = orderOf({ nodes: [node('a')] }, { a: 0 })
    const { job } = await openEngine(app, { '/a': echo }).run(order)
    expect(await give(job.id, { rating: 5, tools: rated('a') })).toMatchObject(
      ineligible('insufficient_workflow_spend'),
    )
  })

  test('where a seller of the job is paid to its payer', async () => {
    const { give } = await serve()
    const jobId = await runTwo()
    await app.insertInto('app.spends').values(spendTo(payer, jobId)).execute()
    expect(await give(jobId, whole)).toMatchObject(ineligible('payer_is_provider'))
  })

  test('where a job of the same purchase was rewarded', async () => {
    const { give } = await serve()
    const first = await runTwo()
    expect((await give(first, whole)).reward.status).toBe('queued')
    const { run } = openEngine(app, { '/a': echo })
    const { job } = await run({ ...orderOf(twoNodes), carried: { jobId: first, nodeIds: ['a'] } })
    expect(await give(job.id, { rating: 5, tools: rated('b') })).toMatchObject(ineligible('already_rewarded'))
  })
})

test('a cause that can pass is looked at again: budgets, and rewards that are off', async () => {
  const jobId = await runTwo()
  const off = await serve(null)
  expect((await off.give(jobId, whole)).reward).toEqual({ status: 'ineligible', reason: 'rewards_disabled' })
  const poor = await serve({ ...generous, dollarsPerPayer: '0' })
  await poor.reviews.reconsider()
  expect((await poor.read(jobId)).reward).toEqual({ status: 'ineligible', reason: 'budget_exhausted' })
  const rich = await serve()
  await rich.reviews.reconsider()
  expect((await rich.read(jobId)).reward).toMatchObject({ status: 'queued', amount: '0.00005' })
})

test('a reward and the fee of its transfer are less than its job earned, once both are known', async () => {
  const jobId = await runTwo()
  const unknown = { status: 'ineligible', reason: 'cost_unknown' }
  const silent = await serve(generous, () => Promise.reject(new Error('no node answers')))
  expect((await silent.give(jobId, whole)).reward).toEqual(unknown)
  const { reviews, read } = await serve(generous, async () => 5_000n)
  const spend = { ...spendTo(token, jobId), state: 'reserved' }
  await app.insertInto('app.spends').values(spend).execute()
  await reviews.reconsider()
  expect((await read(jobId)).reward).toEqual(unknown)
  // It was refused, and its fee is the job's cost too.
  const ended = { state: 'void', fee: 20n, fee_units: 20n, fee_currency: bytesOf(token) }
  await app.updateTable('app.spends').set(ended).where('id', '=', spend.id).execute()
  await reviews.reconsider()
  expect((await read(jobId)).reward).toMatchObject({ status: 'queued', amount: '0.00002' })
  // A half of 80 is kept for the fee, and the other half shared.
  expect(await findPayout(app, 'reward', jobId)).toMatchObject({ amount: 20n, feePart: 40n })
})

test('a reward is paid with what the chain has, out of what the job earned', async () => {
  const { give, read } = await serve()
  const jobId = await runTwo()
  await give(jobId, whole)
  const txHash = `0x${randomBytes(32).toString('hex')}`
  const held = (await takePayouts(app, 1337, 10_000, 60_000)).find(
    ({ reference, kind }) => kind === 'reward' && reference === jobId,
  )
  if (!held) throw new Error('no payout is due')
  expect(held).toMatchObject({ to: payer, currency: token, amount: 50n })
  await keepSigned(app, held, { txHash, raw: '0x76', validBeforeSeconds: 2_000_000_000 })
  expect((await read(jobId)).reward.status).toBe('queued')
  const sent = await findPayout(app, 'reward', jobId)
  if (!sent) throw new Error('the payout is gone')
  await finishPayout(app, sent, { txHash, blockNumber: 7, fee: 0n, feeCurrency: token })
  expect((await read(jobId)).reward).toEqual({
    ...{ status: 'paid', amount: '0.00005', currency: 'USDC', attempt: 1, transactionHash: txHash },
  })
  const sums = Map.groupBy(await readBalances(app), ({ currency }) => currency)
  for (const [, entries] of sums) expect(entries.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
})

test('words are taken out on request, and ratings stay', async () => {
  const { give, read } = await serve()
  const jobId = await runTwo()
  await give(jobId, { ...whole, tools: [{ nodeId: 'a', rating: 2, comment: 'Slow.', tags: ['slow'] }] })
  expect(await removeComments(app, jobId)).toBe(true)
  expect((await read(jobId)).review).toEqual({
    rating: 5,
    tools: [{ nodeId: 'a', rating: 2, tags: ['slow'] }],
  })
  expect(await removeComments(app, randomUUID())).toBe(false)
})

const spendTo = (recipient: string, jobId: string) => ({
  ...{ id: `spend_${randomUUID()}`, job_id: jobId, node_id: 'a', attempt: 1, service_id: 'shop' },
  ...{ state: 'void', protocol: 'mpp', chain_id: 1337, currency: bytesOf(token), amount: 1n },
  ...{ recipient: bytesOf(recipient), payer: bytesOf(payer), units: 1n, day: '2026-11-26' },
})

const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

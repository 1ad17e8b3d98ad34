// Goal: what failed of a job is bought again by its payer alone, at the price of what has no output; the
// outputs that it has are not lost while that is paid for.
// Method: a server over Postgres and a dev chain; jobs end as their rows are written, and payers are the
// clients of the payment library.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findJobOfPayment } from '#rows/jobs/orders.ts'
import { readNodes, removeResults } from '#rows/jobs/reads.ts'
import { accountOf, balanceOf, PATH_USD, payer } from '../../../payments/support/shop.ts'
import { fivefold, hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
const ends: (() => unknown)[] = []
let chain: Awaited<ReturnType<typeof startJobShop>>['chain']
let shop: Awaited<ReturnType<typeof startJobShop>>['shop']
beforeAll(async () => {
  ;({ chain, shop } = await startJobShop((end) => void ends.push(end), 18))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const client = (index: number) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
const received = () => balanceOf(chain.rpcUrl, PATH_USD, accountOf(18).address)
const requestOf = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const retryOf = (jobId: string, by: number, body: object = { idempotencyKey: randomUUID() }) =>
  client(by).fetch(`${shop.origin}/v1/jobs/${jobId}/retry`, requestOf(body))
const told = async (answer: Response) => [answer.status, await answer.json()]

/** Buys a job, whose key is told as well. */
async function bought(plan: object, by = 1) {
  const idempotencyKey = randomUUID()
  const answer = await client(by).fetch(`${shop.origin}/v1/jobs`, requestOf({ idempotencyKey, plan }))
  const { jobId } = Object(await answer.json())
  return { jobId: String(jobId), idempotencyKey }
}

/** The job has ended, and these of its nodes have outputs. */
async function end(jobId: string, delivered: readonly string[]): Promise<void> {
  const { app } = shop.catalog
  await app.transaction().execute(async (transaction) => {
    await sql`
      UPDATE app.job_nodes SET ended_at = clock_timestamp(), state = 'failed', error_code = 'unreachable'
      WHERE job_id = ${jobId}`.execute(transaction)
    await sql`
      UPDATE app.job_nodes SET state = 'succeeded', error_code = NULL, output = '{"hash": 7}', output_bytes = 11,
        output_digest = decode(repeat('ab', 32), 'hex')
      WHERE job_id = ${jobId} AND node_id = ANY (${delivered}::text[])`.execute(transaction)
    await sql`
      UPDATE app.jobs SET state = 'partially_succeeded', ended_at = clock_timestamp(), due_at = NULL
      WHERE id = ${jobId}`.execute(transaction)
  })
}

/** All but the report, which costs 0.05 dollars of 0.0631. */
const cheap = ['place', 'hash', 'day', 'echo']

test('the nodes without output are paid for, and the new job has the outputs of the others', async () => {
  const { jobId } = await bought(fivefold)
  await end(jobId, cheap)
  const before = await received()
  const answer = await retryOf(jobId, 1)
  expect(answer.headers.get('payment-receipt')).toBeTruthy()
  const { jobId: id, ready } = Object(await answer.json())
  expect([answer.status, ready]).toEqual([200, false])
  expect(id).not.toBe(jobId)
  const price = (await received()) - before
  expect(price).toBe(50_000n)
  const nodes = await readNodes(shop.catalog.app, id)
  expect(nodes.map(({ nodeId, isCarried, state, unitsMax }) => [nodeId, isCarried, state, unitsMax])).toEqual(
    [...cheap.map((nodeId) => [nodeId, true, 'succeeded', 0n]), ['report', false, 'pending', price]],
  )
  // A retry of the retry buys the same again.
  await end(id, cheap)
  expect((await retryOf(id, 1)).status).toBe(200)
  expect((await received()) - before).toBe(2n * price)
})

test('one key is one retry, and neither another nor a job of the same plan', async () => {
  const { jobId, idempotencyKey } = await bought(hashing('again'))
  const other = await bought(hashing('again'))
  for (const id of [jobId, other.jobId]) await end(id, [])
  const before = await received()
  const conflict = [409, { error: { code: 'idempotency_conflict' } }]
  expect(await told(await retryOf(jobId, 1, { idempotencyKey }))).toMatchObject(conflict)
  expect(await received()).toBe(before)
  const body = { idempotencyKey: randomUUID() }
  const first = await told(await retryOf(jobId, 1, body))
  expect(first).toEqual([200, { jobId: expect.any(String), ready: false }])
  expect(await told(await retryOf(jobId, 1, body))).toEqual(first)
  expect(await told(await retryOf(other.jobId, 1, body))).toMatchObject(conflict)
  const plan = { ...body, plan: hashing('again') }
  expect(await told(await client(1).fetch(`${shop.origin}/v1/jobs`, requestOf(plan)))).toMatchObject(conflict)
  expect((await received()) - before).toBe(100n)
})

test('of another account it takes nothing', async () => {
  const { jobId } = await bought(hashing('mine'))
  await end(jobId, [])
  const before = await received()
  expect(await told(await retryOf(jobId, 2))).toMatchObject([403, { error: { code: 'forbidden' } }])
  expect(await received()).toBe(before)
})

test('what cannot be tried again is refused before a price', async () => {
  const running = await bought(hashing('running'))
  const whole = await bought(hashing('whole'))
  await end(whole.jobId, ['hash'])
  const reversed = await bought(hashing('reversed'))
  await end(reversed.jobId, [])
  await sql`
    UPDATE app.payments SET proof = 'reversed'
    WHERE id = (SELECT payment_id FROM app.jobs WHERE id = ${reversed.jobId})`.execute(shop.catalog.app)
  const obstacles = {
    running: 'the job runs',
    whole: 'each node has its output',
    reversed: 'took the payment',
  }
  for (const [name, { jobId }] of Object.entries({ running, whole, reversed })) {
    const answer = await fetch(
      `${shop.origin}/v1/jobs/${jobId}/retry`,
      requestOf({ idempotencyKey: randomUUID() }),
    )
    const message = expect.stringContaining(Reflect.get(obstacles, name))
    expect(await told(answer)).toMatchObject([409, { error: { code: 'job_not_retryable', message } }])
  }
  expect((await retryOf(randomUUID(), 1)).status).toBe(404)
  expect((await retryOf(running.jobId, 1, {})).status).toBe(400)
})

test('a job keeps the outputs that a claimed payment will carry over', async () => {
  const { app } = shop.catalog
  const { jobId } = await bought(fivefold)
  await end(jobId, cheap)
  const answer = await retryOf(jobId, 1)
  const { jobId: id } = Object(await answer.json())
  const { payment_id: paymentId } = await app
    .selectFrom('app.jobs')
    .select('payment_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(await findJobOfPayment(app, String(paymentId))).toBe(id)
  await sql`
    INSERT INTO app.job_orders (payment_id, job_id, payer, idempotency_key, plan_hash, plan, quote, token_decimals, retry_of)
    SELECT ${paymentId}, gen_random_uuid(), payer, 'a-key-of-its-own', plan_hash, plan, '{}', 6, ${jobId}
    FROM app.jobs WHERE id = ${jobId}`.execute(app)
  const hasPlan = async () => {
    while (await removeResults(app, 0)) {}
    const row = await app.selectFrom('app.jobs').select('plan').where('id', '=', jobId).executeTakeFirst()
    return row?.plan !== null
  }
  expect(await hasPlan()).toBe(true)
  await app.deleteFrom('app.job_orders').where('retry_of', '=', jobId).execute()
  expect(await hasPlan()).toBe(false)
  expect(await told(await retryOf(jobId, 1))).toMatchObject([409, { error: { code: 'job_not_retryable' } }])
})

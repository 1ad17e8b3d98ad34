// Goal: the operator reads what the wallet, payments, refunds, rewards, reviews and books are, to the
// unit and page by page; nobody else does, however open access is.
// Method: the real endpoints behind the real access over rows that the product wrote, on real Postgres.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newToken } from '#api/access/token.ts'
import { operatorEndpoints } from '#api/routes/index.ts'
import { PATH_USD } from '#primitives.ts'
import { insertKey } from '#rows/access/keys.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { buy } from '../../orchestrator/jobs/support/boughtJobs.ts'
import { ask } from '../support/chainApi.ts'
import { deskOver, payer, review, strangeToken, writeMoney } from '../support/moneyDesk.ts'
import { app, clock, defaults, openSignIn, pepper } from '../support/signInServer.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

const paths = operatorEndpoints.map(({ path }) => path)
const books = {
  lookedAt: new Date(1_764_000_000_000),
  chainsAskedAt: null,
  differing: 2,
  unchecked: ['chain 9: silent'],
}
const desk = deskOver(app, { books })
const servers: RunningServer[] = []
const open = async (changes: Parameters<typeof openSignIn>[0], money = desk) => {
  const { access } = openSignIn(changes)
  const server = await startServer(
    operatorEndpoints,
    { money, clock },
    { access, trustedProxies: ['127.0.0.1'] },
  )
  servers.push(server)
  return server
}
const tokens = { operator: newToken('live'), other: newToken('live') }
let written: Awaited<ReturnType<typeof writeMoney>>
let guarded: RunningServer

beforeAll(async () => {
  written = await writeMoney(app)
  guarded = await open({})
  const { orgId, projectId } = defaults
  const made = {
    orgId,
    projectId,
    name: null,
    environment: 'production',
    createdBy: null,
    quota: null,
  } as const
  const unlimited = { expiresAt: null, allowedIps: null, chains: null, origins: null, addressQuota: null }
  const own = { ...made, ...unlimited }
  await insertKey(app, { ...own, token: tokens.operator, scopes: ['*'] }, pepper)
  await insertKey(app, { ...own, token: tokens.other, scopes: ['data:read', 'webhooks:read'] }, pepper)
})
afterAll(async () => {
  for (const { app: server } of servers) await server.close()
})

const askAs = (path: string, token: string | null = tokens.operator, from = guarded) => {
  const headers = { 'x-forwarded-for': '203.0.113.9', ...(token !== null && { 'svc-api-key': token }) }
  return ask(from.origin + path, { headers })
}

test.each(paths)('%s is for a key of the operator alone, and for his own machine', async (path) => {
  expect((await askAs(path)).status).toBe(200)
  expect((await askAs(path, tokens.other)).body.error.code).toBe('api_key_forbidden')
  expect((await askAs(path, null)).body.error.code).toBe('api_key_missing')
  expect((await fetch(guarded.origin + path)).status).toBe(200)
  const toAll = await open({ mode: 'open', isOpenToAll: true, publicUrl: null })
  expect((await askAs(path, null, toAll)).body.error.code).toBe('api_key_missing')
  expect((await fetch(toAll.origin + path)).status).toBe(200)
})

test('each is counted, and kept in no cache', async () => {
  const { headers } = await askAs('/v1/operator/money')
  expect(headers.get('ratelimit-scope')).toBe('operator')
  expect(headers.get('cache-control')).toContain('no-store')
})

test('the wallet says what it has, what the day spent and holds, and what is left', async () => {
  const { body } = await askAs('/v1/operator/money')
  expect(body.wallet).toMatchObject({
    paused: null,
    awaitsReconciliation: false,
    balances: [
      { chainId: 1337, token: PATH_USD, amount: '123.456789' },
      { chainId: 8453, amount: null },
    ],
    limits: { job: '5', day: '50', service: '25', payee: '25', payer: '12.5' },
    reserved: '1.25',
    held: '0',
    left: '48.75',
  })
  expect(body.wallet.spent).toContainEqual({ kind: 'service', subject: 'weather', dollars: '1.25' })
  expect(body.books).toEqual({
    ...{
      lookedAt: '2025-11-24T16:00:00Z',
      chainsAskedAt: null,
      differing: 2,
      unchecked: ['chain 9: silent'],
    },
  })
})

test('pauses have their reasons; without a wallet or a payee it says so', async () => {
  await pause(app, 'wallet', 'an audit')
  await pause(app, 'payouts', 'by the operator')
  const { body } = await askAs('/v1/operator/money')
  expect(body.wallet).toMatchObject({ pauseReason: 'an audit', paused: expect.stringMatching(/^20.*Z$/) })
  expect(body.payouts.pause).toMatchObject({ reason: 'by the operator' })
  for (const name of ['wallet', 'payouts'] as const) await resume(app, name)
  const none = await open({}, deskOver(app, { wallet: false, sellingProblem: 'ACCESS_FILE names no payee' }))
  expect((await askAs('/v1/operator/money', tokens.operator, none)).body).toEqual({
    ...{ wallet: null, sellingProblem: 'ACCESS_FILE names no payee', payouts: { pause: null }, books: null },
  })
})

test('payments are listed to the unit, the newest first, page by page', async () => {
  const seen: { id: string }[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const asked: Awaited<ReturnType<typeof askAs>> = await askAs(
      `/v1/operator/payments?limit=5${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    seen.push(...asked.body.data)
    cursor = asked.body.nextCursor
  }
  const { huge, failed, late, strange, job } = written.ids
  expect(seen.map(({ id }) => id)).toEqual(
    seen
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  )
  const of = (id: string) => seen.find((one) => one.id === id)
  expect(of(huge.id)).toMatchObject({
    ...{
      state: 'settled',
      scope: 'data:read',
      method: 'tempo/charge',
      payer,
      amount: '123456789012345678901',
    },
    ...{ decimals: 6, currency: PATH_USD, transactionHash: huge.txHash, isOwed: false },
  })
  expect(of(failed.id)).toMatchObject({ state: 'failed', settledAt: null })
  expect(of(late.id)).toMatchObject({ state: 'settled', isOwed: true })
  expect(of(strange.id)).toMatchObject({ decimals: null, currency: strangeToken, amount: '7' })
  expect(of(job.id)).toMatchObject({ scope: 'jobs' })
  const owed = (await askAs('/v1/operator/payments?unrefunded=true')).body.data
  expect(owed.map(({ id }: { id: string }) => id)).toEqual([late.id])
})

test('no secret of a payment is told', async () => {
  const told = JSON.stringify((await askAs('/v1/operator/payments')).body)
  for (const name of ['identity', 'digest', 'receipt', 'credential', 'raw']) expect(told).not.toContain(name)
  expect(JSON.stringify((await askAs('/v1/operator/payouts')).body)).not.toContain('raw')
})

test('refunds and rewards say how they stand and why they wait', async () => {
  const { data } = (await askAs('/v1/operator/payouts')).body
  expect(data).toMatchObject([
    {
      ...{ kind: 'reward', state: 'queued', reference: written.jobId, amount: '25', to: payer },
      ...{ problem: 'payouts are paused: by the operator', transactionHash: null, paidAt: null },
    },
    { kind: 'refund', state: 'paid', amount: '1500', transactionHash: expect.stringMatching(/^0x/) },
  ])
  const queued = (await askAs('/v1/operator/payouts?state=queued')).body.data
  expect(queued.map(({ kind }: { kind: string }) => kind)).toEqual(['reward'])
  expect((await askAs('/v1/operator/payouts?state=odd')).status).toBe(400)
})

test('reviews tell whether their payer is proved, and the reward', async () => {
  const { data, nextCursor } = (await askAs('/v1/operator/reviews')).body
  expect(nextCursor).toBeNull()
  expect(data).toMatchObject([
    { jobId: written.otherJobId, rating: 2, isProved: false, reason: 'payer_unproved', reward: null },
    {
      ...{ jobId: written.jobId, rating: 4, isProved: true, comment: 'Did what it said.', reason: null },
      reward: { state: 'queued', amount: '25', decimals: 6 },
    },
  ])
})

test('a walk through reviews of one moment misses none', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => buy(app)))
  for (const { jobId } of all) await review(app, jobId, { rating: 3, isProved: false })
  await app
    .updateTable('app.job_reviews')
    .set({ reviewed_at: new Date(1_764_000_000_123) })
    .execute()
  const first = (await askAs('/v1/operator/reviews?limit=5')).body
  const second = (await askAs(`/v1/operator/reviews?limit=5&cursor=${first.nextCursor}`)).body
  const seen = [...first.data, ...second.data].map(({ jobId }: { jobId: string }) => jobId)
  expect(seen.toSorted()).toEqual(
    [...all.map(({ jobId }) => jobId), written.jobId, written.otherJobId].toSorted(),
  )
  expect(second.nextCursor).toBeNull()
})

test('income and cost of a day are those of the books', async () => {
  const { body } = await askAs('/v1/operator/days?days=2')
  expect(body.to >= body.from).toBe(true)
  const sums = body.lines.filter(({ currency }: { currency: string }) => currency === PATH_USD)
  expect(sums).toContainEqual(
    expect.objectContaining({ kind: 'refund', amount: '-1500', count: 1, decimals: 6, chainId: 1337 }),
  )
  expect(sums).toContainEqual(
    expect.objectContaining({
      kind: 'payment',
      amount: `${123_456_789_012_345_678_901n + 500n + 2n * 2_100n}`,
    }),
  )
  expect((await askAs('/v1/operator/days?days=93')).status).toBe(400)
})

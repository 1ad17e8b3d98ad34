// Goal: what can be known before a read is paid for is told before: no challenge for a block that is
// not there, a store that is away, or a turn that nobody will get.
// Method: the real access and challenges past a quota; a store at a port where nobody listens.
import { randomBytes } from 'node:crypto'
import { Challenge, Credential } from 'mppx'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { type AccessSettings, fileDefaults } from '#api/access/settings.ts'
import { endpoint } from '#http/endpoint.ts'
import type { Freshness } from '#http/request/freshness.ts'
import * as s from '#http/schema.ts'
import { Payments } from '#payments/Payments.ts'
import { requestDigest } from '#payments/requestDigest.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { answerPayment } from '#rows/payments/holds.ts'
import { claimPayment } from '#rows/payments/payments.ts'
import { assertAnswers, openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { refusedPayments } from '../payments/support/refused.ts'
import { chargesOf, PATH_USD } from '../payments/support/shop.ts'
import { app, clock, credentials, defaults, makeKey } from './support/accessServers.ts'
import { type RunningServer, startServer } from './support/toolkitServer.ts'

/** Reads under way, which the test lets go. */
const begun: PromiseWithResolvers<void>[] = []
const read = endpoint({
  path: '/v1/read',
  summary: 'Chain data, when the test gives it.',
  response: s.object({ ok: s.boolean() }),
  cache: 'none',
  read: async (_call, _services: unknown) => {
    const reading = Promise.withResolvers<void>()
    begun.push(reading)
    await reading.promise
  },
  present: () => ({ ok: true }),
})

const away = openPostgres({
  ...{ url: 'postgres://nobody@127.0.0.1:9/none', applicationName: 'test', log: silentLogger },
})
let isAway = false
let cannotSettle = false
const taken = [{ address: PATH_USD, decimals: 6 }] as const
const freshness: Freshness = {
  read: () => ({ indexedBlock: 10, finalizedBlock: 8, headBlock: 10 }),
  waitForBlock: (_chain, _block, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  assertReadable: async () => {
    if (isAway) await assertAnswers(away, clock)
  },
}
const settings: AccessSettings = {
  ...fileDefaults,
  ...{ mode: 'guarded', isOpenToAll: false, reason: '', publicUrl: null, corsOrigins: null },
  quotas: { ...fileDefaults.quotas, address: 0 },
}
let server: RunningServer
let charges: ReturnType<typeof chargesOf>
let tokens: readonly string[]
beforeAll(async () => {
  const options = { rpcUrl: 'http://127.0.0.1:9', chainId: 1337, recipient: `0x${'ee'.repeat(20)}` } as const
  charges = chargesOf(options, randomBytes(32), undefined, { currencies: () => (cannotSettle ? [] : taken) })
  const payments = new Payments({
    ...{ app, realm: 'shop.example', clock, refused: refusedPayments(app), log: silentLogger },
    prices: { 'data:read': { charge: '0.0005', session: '0.0005' } },
    methods: [charges],
  })
  const quotas = new Quotas(quotaRows(app), clock)
  server = await startServer([read], null, {
    ...{ freshness, turns: { running: 2, waiting: 1, waitMs: 600_000 } },
    access: new ServiceAccess({ settings, credentials, quotas, defaults, payments, clock }),
    // The wait for a block is not waited for.
    clock: { ...clock, sleep: (ms, signal) => clock.sleep(ms === 5_000 ? 20 : ms, signal) },
  })
  const keys = await Promise.all([1, 2, 3].map(() => makeKey({ scopes: ['data:read'] })))
  tokens = keys.map(({ token }) => token)
})
afterAll(async () => {
  for (const reading of begun) reading.resolve()
  await server?.app.close()
  await away.close()
})

const ask = (query = '', headers: Record<string, string> = {}) =>
  fetch(`${server.origin}/v1/read${query}`, { headers })
const told = async (answer: Response) => {
  const isChallenged = answer.headers.has('www-authenticate')
  return [answer.status, isChallenged, isChallenged ? null : JSON.parse(await answer.text()).error.code]
}
beforeEach(() => {
  isAway = false
  cannotSettle = false
})

test('a block that is not there is no offer, one that is there is', async () => {
  expect(await told(await ask('?minBlock=99'))).toEqual([409, false, 'block_not_reached'])
  expect(await told(await ask('?minBlock=10'))).toEqual([402, true, null])
})

test('a payment that comes with it is not even looked at', async () => {
  const credential = `Payment ${Buffer.from('{}').toString('base64url')}`
  expect(await told(await ask('?minBlock=99', { authorization: credential }))).toEqual([
    ...[409, false, 'block_not_reached'],
  ])
})

test('a payment whose answer is over is told so, though its store is away', async () => {
  const [challenge] = Challenge.fromResponseList(await ask())
  if (!challenge) throw new Error('nothing is offered')
  const authorization = Credential.serialize({ challenge, payload: {} })
  const identity = charges.identityOf(authorization)
  if (!identity) throw new Error('the credential spends nothing')
  const request = { method: 'GET', url: '/v1/read', body: undefined }
  isAway = true
  expect(await told(await ask('', { authorization }))).toEqual([502, false, 'upstream_error'])
  const payment = await claimPayment(
    app,
    {
      ...{ identity: identity.identity, credentialDigest: identity.digest, reference: null, txHash: null },
      ...{ requestDigest: requestDigest('shop.example', request), scope: 'data:read', method: charges.name },
      ...{ chainId: 1337, currency: PATH_USD, amount: 500n, validBeforeSeconds: 2_000_000_000 },
      ...{ recipient: `0x${'ee'.repeat(20)}`, payer: `0x${'aa'.repeat(20)}` },
    },
    ...([Date.now(), 60_000] as const),
  )
  await answerPayment(app, payment?.id ?? '')
  expect(await told(await ask('', { authorization }))).toEqual([403, false, 'payment_used'])
})

test('a store that is away is no offer', async () => {
  isAway = true
  expect(await told(await ask())).toEqual([502, false, 'upstream_error'])
  isAway = false
  expect(await told(await ask())).toEqual([402, true, null])
})

test('a turn that nobody will get is no offer', async () => {
  // Two that have their turns, and one that waits, each another party.
  const others = tokens.map((token, of) => ask(`?minBlock=${of}`, { 'svc-api-key': token }))
  try {
    await expect.poll(async () => told(await ask())).toEqual([503, false, 'overloaded'])
  } finally {
    for (const reading of begun.splice(0)) reading.resolve()
    await expect.poll(() => begun.length).toBe(1)
    begun.pop()?.resolve()
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200])
  }
  expect(await told(await ask())).toEqual([402, true, null])
})

test('what nobody can pay for now is no offer, and what was paid before is looked at still', async () => {
  cannotSettle = true
  expect(await told(await ask())).toEqual([429, false, 'payment_required'])
  const paid = await ask('', { authorization: `Payment ${Buffer.from('{}').toString('base64url')}` })
  // That of payments, which says nothing of quotas.
  expect([paid.status, await paid.json()]).toMatchObject([
    429,
    { error: { code: 'payment_required', message: 'Nothing can be paid here for the moment.' } },
  ])
})

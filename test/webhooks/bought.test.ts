// Goal: a stranger buys a subscription for thirty days, and it belongs to the account that paid.
// Method: the real endpoints, access and payments over a real database and a dev chain; payers are the
// clients of the payment library.
import { randomBytes } from 'node:crypto'
import { http } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { type AccessSettings, fileDefaults } from '#api/access/settings.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { PayerProofs } from '#payments/PayerProofs.ts'
import { Payments } from '#payments/Payments.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import type { AppDatabase } from '#rows/database.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { Retention } from '#rows/webhooks/Retention.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { endTerms } from '#webhooks/delivery/endTerms.ts'
import { refusedPayments } from '../payments/support/refused.ts'
import { accountOf, balanceOf, chargesOf, PATH_USD, payer, REALM } from '../payments/support/shop.ts'
import { startTestDevChain } from '../support/devchain.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { batchesOf, recorded } from './support/forks.ts'
import { openService, type Service } from './support/openService.ts'

const { clock } = systemRuntime()
const chainId = 1337
const PRICE = 100_000n
const DAY_MS = 86_400_000
const recipient = `0x${accountOf(80).address.slice(2).toLowerCase()}` as const
let chain: Awaited<ReturnType<typeof startTestDevChain>>
let service: Service
let receiver: Receiver
beforeAll(async () => {
  chain = await startTestDevChain(chainId)
  await new DevRpc(chain.rpcUrl).call('evm_setIntervalMining', 1)
  receiver = await openReceiver()
  service = await openService({ access: (app) => guardedBy(app) })
  await service.append(batchesOf(recorded(3), 0, 2))
})
afterAll(async () => {
  await service?.close()
  await chain?.remove()
})

const settings: AccessSettings = {
  ...fileDefaults,
  ...{ mode: 'guarded', isOpenToAll: false, reason: '', publicUrl: null, corsOrigins: null },
  quotas: { ...fileDefaults.quotas, address: 1_000 },
}
function guardedBy(app: AppDatabase): ServiceAccess {
  const of = { rpcUrl: chain.rpcUrl, chainId, recipient }
  const key = randomBytes(32)
  const refused = refusedPayments(app)
  const seller = { realm: REALM, keys: [key], chainId, recipient, currency: PATH_USD } as const
  return new ServiceAccess({
    ...{ settings, clock },
    credentials: { findKey: async () => null, findSession: async () => null, digestOf: (token) => token },
    quotas: new Quotas(quotaRows(app), clock),
    defaults: { orgId: 'org_none', projectId: 'project_none', userId: 'user_none' },
    payments: new Payments({
      ...{ app, realm: REALM, clock, log: silentLogger, refused },
      methods: [chargesOf(of, key)],
      prices: settings.prices,
      single: new Set(['webhooks:write']),
    }),
    proofs: new PayerProofs({ app, refused, transport: http(chain.rpcUrl), ...seller }),
  })
}

const client = (index: number) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
type Client = ReturnType<typeof client>
const json = { 'content-type': 'application/json' }
const subscription = (path: string) => ({
  method: 'POST',
  headers: json,
  body: JSON.stringify({
    eventType: 'block:created',
    destination: { type: 'url', url: receiver.url(path) },
    chainId: service.id,
  }),
})
const at = (path = '') => `${service.server.origin}/v1/webhooks${path}`
const ask = async (by: Pick<Client, 'fetch'>, path = '', init: RequestInit = {}) => {
  const answer = await by.fetch(at(path), init)
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) }
}
const buy = (index: number, path: string) => ask(client(index), '', subscription(path))
const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)
/** As if it had been bought so many days ago. */
const passDays = (id: string, days: number) =>
  service.app
    .updateTable('app.webhooks')
    .set({ expires_at: new Date(Date.now() + (30 - days) * DAY_MS) })
    .where('id', '=', id)
    .execute()
const ending = () => endTerms({ app: service.app, postgres: service.store.postgres })

describe('a subscription that is bought', () => {
  test('costs its price once, runs for 30 days, and gets events', async () => {
    const before = await received()
    const { status, headers, body } = await buy(1, '/bought')
    expect([status, (await received()) - before]).toEqual([200, PRICE])
    expect(headers.has('payment-receipt')).toBe(true)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^wh_/),
      secret: expect.stringMatching(/^whsec_/),
    })
    const leftMs = Date.parse(body.expiresAt) - Date.now()
    expect(leftMs / DAY_MS).toBeCloseTo(30, 1)
    expect((await listPayments(service.app, 1))[0]).toMatchObject({ isAnswered: true, amount: PRICE })
    service.start()
    await service.append(batchesOf(recorded(4), 3, 3))
    await expect.poll(() => receiver.at('/bought').length).toBe(1)
  })

  test('is read, changed, pinged and removed by its account alone', async () => {
    const owner = client(2)
    const { id } = (await buy(2, '/own')).body
    expect((await ask(owner)).body.data).toMatchObject([{ id, status: 'active' }])
    expect((await ask(client(3))).body.data).toEqual([])
    const changed = { method: 'PATCH', headers: json, body: JSON.stringify({ status: 'paused' }) }
    for (const [path, init] of [
      [`/${id}`, {}],
      [`/${id}`, changed],
      [`/${id}`, { method: 'DELETE' }],
    ] as const)
      expect((await ask(client(3), path, init)).body.error.code).toBe('webhook_not_found')
    expect((await ask(owner, `/${id}`, changed)).body.status).toBe('paused')
    expect((await ask(owner, `/${id}/ping`, { method: 'POST' })).body.delivered).toBe(true)
    expect((await ask(owner, `/${id}/deliveries`)).body.data).toHaveLength(1)
    expect((await ask(owner, `/${id}`, { method: 'DELETE' })).body).toEqual({ id })
    expect((await ask(owner)).body.data).toEqual([])
  })

  test('is told once for a proof, and for that request', async () => {
    const { id } = (await buy(4, '/proof')).body
    const owner = client(4)
    const proof = await owner.createCredential(await owner.rawFetch(at()))
    const sent = (path: string) => fetch(at(path), { headers: { authorization: proof } })
    expect([(await sent(`/${id}`)).status, (await sent('')).status, (await sent('')).status]).toEqual([
      ...[402, 200, 402],
    ])
  })
})

describe('money', () => {
  const originals: (() => void)[] = []
  afterEach(() => {
    for (const restore of originals.splice(0)) restore()
  })

  test('is not asked for what cannot be made', async () => {
    const { headers, ...init } = subscription('/never')
    const of = JSON.parse(init.body)
    for (const [changed, code] of [
      [{ destination: { type: 'url', url: 'http://example.com/x' } }, 'url_invalid'],
      [{ eventType: 'token:transfer', filters: { nobody: '1' } }, 'filters_invalid'],
      [{ chainId: 5 }, 'chain_id_unsupported'],
    ] as const) {
      const answer = await fetch(at(), { ...init, headers, body: JSON.stringify({ ...of, ...changed }) })
      expect([answer.status < 402, JSON.parse(await answer.text()).error.code]).toEqual([true, code])
    }
    const renewal = await fetch(at('/wh_none/renew'), { method: 'POST' })
    expect(JSON.parse(await renewal.text()).error.code).toBe('webhook_not_found')
  })

  test('that is there pays for the next try of what failed, and buys one subscription', async () => {
    const run = service.services.webhooks?.run
    if (!run) throw new Error('webhooks are off')
    const create = run.create.bind(run)
    run.create = () => Promise.reject(new Error('the process dies'))
    originals.push(() => Object.assign(run, { create }))
    const owner = client(5)
    const init = subscription('/again')
    const authorization = await owner.createCredential(await owner.rawFetch(at(), init))
    const send = () => fetch(at(), { ...init, headers: { ...init.headers, authorization } })
    const before = await received()
    expect((await send()).status).toBe(500)
    Object.assign(run, { create })
    expect([(await send()).status, (await send()).status]).toEqual([200, 403])
    expect([(await received()) - before, (await ask(owner)).body.data.length]).toEqual([PRICE, 1])
  })
})

describe('its end', () => {
  test('disables it, and a payment of whoever it is takes it up again', async () => {
    const owner = client(6)
    const { id } = (await buy(6, '/ended')).body
    expect(await ending()).toEqual([])
    await passDays(id, 31)
    // A pass of the service's own may have been first.
    expect([[id], []]).toContainEqual(await ending())
    expect((await ask(owner, `/${id}`)).body).toMatchObject({
      ...{ status: 'disabled', disabledReason: 'expired' },
    })
    await service.append(batchesOf(recorded(5), 4, 4))
    const renewed = await ask(client(7), `/${id}/renew`, { method: 'POST' })
    expect(renewed.body).toEqual({ id, expiresAt: expect.any(String) })
    expect(Math.round((Date.parse(renewed.body.expiresAt) - Date.now()) / DAY_MS)).toBe(30)
    expect((await ask(owner, `/${id}`)).body).toMatchObject({ status: 'active', activeFromBlock: 5 })
    await service.append(batchesOf(recorded(6), 5, 5))
    await expect.poll(() => receiver.at('/ended').length).toBe(1)
    // Before its end, thirty days are added to what is left.
    const again = await ask(owner, `/${id}/renew`, { method: 'POST' })
    expect(Math.round((Date.parse(again.body.expiresAt) - Date.now()) / DAY_MS)).toBe(60)
  })

  test('removes it where nobody renews it for a month', async () => {
    const { id } = (await buy(8, '/gone')).body
    await passDays(id, 61)
    await ending()
    await new Retention(service.app, silentLogger).pass()
    expect((await ask(client(8))).body.data).toEqual([])
    expect((await ask(client(8), `/${id}/renew`, { method: 'POST' })).body.error.code).toBe(
      'webhook_not_found',
    )
  })
})

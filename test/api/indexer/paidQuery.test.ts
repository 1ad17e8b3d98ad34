// Goal: a query beyond the quota costs what `explain` says, and at least what its scope does; one
// that could not run is refused and not sold.
// Method: SQL over a recorded chain behind the real access; challenges of the payment library.
import { randomBytes } from 'node:crypto'
import { Challenge } from 'mppx'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { type AccessSettings, fileDefaults } from '#api/access/settings.ts'
import { amountOf } from '#money/amounts.ts'
import { Payments } from '#payments/Payments.ts'
import type { UnitPrices } from '#payments/Prices.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { StoreUnreachableError } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { refusedPayments } from '../../payments/support/refused.ts'
import { chargesOf } from '../../payments/support/shop.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { app, clock, credentials, defaults, makeKey } from '../support/accessServers.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

const scopePrice = '0.001'
const chainPrices = new Map<number, UnitPrices>()
let api: ChainApi
let token: string
/** Estimates of the engine that were asked for. */
let explained = 0
let fails: Error | null = null
beforeAll(async () => {
  const quotas = new Quotas(quotaRows(app), clock)
  const options = { rpcUrl: 'http://127.0.0.1:9', chainId: 1337, recipient: `0x${'ee'.repeat(20)}` } as const
  const payments = new Payments({
    ...{ app, realm: 'shop.example', clock, refused: refusedPayments(app), log: silentLogger },
    methods: [chargesOf(options, randomBytes(32))],
    ...{ prices: { 'indexer:query': { charge: scopePrice, session: scopePrice } }, chainPrices },
  })
  const settings: AccessSettings = {
    ...fileDefaults,
    ...{ mode: 'guarded', isOpenToAll: false, reason: '', publicUrl: null, corsOrigins: null },
    quotas: { ...fileDefaults.quotas, address: 0 },
  }
  const access = new ServiceAccess({ settings, credentials, quotas, defaults, payments, clock })
  api = await openChainApi({
    server: { access },
    wrapEngine: (engine) => ({
      engine: engine.engine,
      run: (request) => engine.run(request),
      stream: (request) => engine.stream(request),
      close: () => engine.close(),
      assertReady: (request) => {
        if (fails) throw fails
        return engine.assertReady(request)
      },
      explain: (request) => {
        explained++
        if (fails) throw fails
        return engine.explain(request)
      },
    }),
  })
  await api.append(recordedBatches('tempo-dev-2k', 10))
  await api.finalize(122)
  await api.store.postgres.pool.query('ANALYZE')
  token = (await makeKey({ scopes: ['indexer:query'] })).token
})
afterAll(() => api?.close())

const ask = (sql: string) => fetch(`${api.server.origin}/v1/indexer/query?sql=${encodeURIComponent(sql)}`)
const explain = async (sql: string): Promise<string> => {
  const answer = await fetch(`${api.server.origin}/v1/indexer/explain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'svc-api-key': token },
    body: JSON.stringify({ sql }),
  })
  const { price } = JSON.parse(await answer.text())
  return price.amount
}
const amountsIn = (answer: Response) => {
  expect(answer.status).toBe(402)
  return Challenge.fromResponseList(answer).map(({ request }) => BigInt(String(request['amount'])))
}

const dear = 'SELECT count(*) AS n FROM logs a CROSS JOIN logs b CROSS JOIN txs c'

describe('a query beyond the quota', () => {
  test('costs what `explain` says of it', async () => {
    const dollars = await explain(dear)
    expect(Number(dollars)).toBeGreaterThan(Number(scopePrice))
    const amount = amountOf(dollars, 1, 6)
    expect(amountsIn(await ask(dear))).toEqual([amount, amount])
  })

  test('costs at least what its scope does', async () => {
    const cheap = 'SELECT num FROM blocks WHERE num = 7'
    expect(Number(await explain(cheap))).toBeLessThan(Number(scopePrice))
    expect(amountsIn(await ask(cheap))).toEqual([1_000n, 1_000n])
  })

  test('costs what its chain has as its own price', async () => {
    chainPrices.set(api.chainId, { 'indexer:query': { charge: '0.002', session: '0.002' } })
    const told = amountsIn(await ask('SELECT num FROM blocks WHERE num = 6'))
    chainPrices.set(api.chainId, { 'indexer:query': { charge: '0', session: '0' } })
    const { status } = await ask('SELECT num FROM blocks WHERE num = 5')
    chainPrices.clear()
    expect([told, status]).toEqual([[2_000n, 2_000n], 429])
  })

  test('costs as much a minute later, and asking again is no work of the engine', async () => {
    const sql = `${dear} WHERE a.block_num > 3`
    const first = amountsIn(await ask(sql))
    const before = explained
    await api.store.postgres.pool.query(`UPDATE pg_class SET reltuples = 9 WHERE relname LIKE 'logs%'`)
    expect(amountsIn(await ask(sql))).toEqual(first)
    expect(explained).toBe(before)
  })

  test('is refused for nothing where it could not run', async () => {
    const answers = [await ask('SELECT nothing FROM nowhere'), await ask('DELETE FROM blocks')]
    expect(answers.map(({ status, headers }) => [status, headers.has('www-authenticate')])).toEqual([
      [422, false],
      [422, false],
    ])
  })

  test('is not sold while its store is away, or all slots are taken', async () => {
    for (const [status, error] of [
      [502, new StoreUnreachableError('DATABASE_URL', 'away')],
      [503, new UserQueryError('sql_busy', 'all slots are taken')],
    ] as const) {
      fails = error
      const answer = await ask(`SELECT ${status} AS n FROM blocks`)
      expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([status, false])
    }
    fails = null
  })

  test('is not sold at the price it was told either, once it could not run', async () => {
    const sql = 'SELECT num FROM blocks WHERE num = 8'
    expect((await ask(sql)).status).toBe(402)
    fails = new StoreUnreachableError('DATABASE_URL', 'away')
    const answer = await ask(sql)
    expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([502, false])
    fails = null
    const url = `${api.server.origin}/v1/indexer/query?sql=${encodeURIComponent(sql)}`
    for (const wrong of ['&timeout_ms=200000', '&limit=50000', '&engine=clickhouse'])
      expect((await fetch(url + wrong)).status, wrong).not.toBe(402)
    expect((await ask(sql)).status).toBe(402)
  })

  test('is priced so often a minute for one address, and no more', async () => {
    const statuses: number[] = []
    const minute = () => Math.floor(Date.now() / 60_000)
    const begun = minute()
    // So many that one minute or two, whichever they fall into, have too few.
    for (let asked = 0; asked < 130; asked++)
      statuses.push((await ask(`SELECT ${asked} AS n FROM blocks`)).status)
    expect(new Set(statuses)).toEqual(new Set([402, 429]))
    const minutes = minute() - begun + 1
    expect(statuses.filter((status) => status === 402).length).toBeLessThanOrEqual(60 * minutes)
  })
})

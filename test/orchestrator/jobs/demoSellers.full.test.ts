// Goal: a plan of the shipped sellers is bought call by call, and refund and books are exact; each offer of
// each seller is served to the client of its protocol, and the money arrives.
// Method: the sellers check real payments on a dev chain; wallet, engine and rows are the program’s own.
import { randomUUID } from 'node:crypto'
import { http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { DEV_DOLLAR } from '#local/devchain/dollar/dollar.ts'
import { sellingOn } from '#local/devchain/selling.ts'
import { type DemoSellers, startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { sellers } from '#orchestrator/demo/sellers/index.ts'
import { Jobs } from '#orchestrator/job/Jobs.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { readSpendsOf } from '#rows/jobs/spends.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { Budget } from '#wallet/spend/Budget.ts'
import { accountOf, balanceOf, PATH_USD } from '../../payments/support/shop.ts'
import { openAppStore } from '../../support/appStore.ts'
import { startMiningDevChain } from '../../support/devchain.ts'
import { openWallet } from '../../wallet/support/wallet.ts'
import { endless } from '../support/demo.ts'
import { offersIn, openAnyBuyer } from './support/anyBuyer.ts'
import { demoPlan } from './support/demoPlan.ts'
import { payer, place } from './support/jobOrder.ts'
import { token } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
const runtime = systemRuntime()
const { clock } = runtime
const end = new AbortController()
const [due, changed] = [new CommitBell(), new CommitBell()]
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let demo: DemoSellers
let budget: Budget
let running: Promise<void>
beforeAll(async () => {
  chain = await startMiningDevChain(1337)
  demo = await startDemoSellers(sellingOn(chain))
  await importShipped(app, { api: 'http://127.0.0.1:8080', demo: demo.origin })
  const account = accountOf(1)
  const { spender, options } = await openWallet({ app, chain, account, origins: [demo.origin] })
  const chains = [{ chainId: chain.chainId, endpoints: [http(chain.rpcUrl)] }]
  budget = new Budget({ ...options, address: account.address, chains })
  const egress = new Egress({ isLocalOrigin: (origin) => origin === demo.origin })
  running = new Jobs({ app, buyer: spender, egress, due, changed, runtime, log: silentLogger }).run(
    end.signal,
  )
})
/** A call with that input, as the sellers take it. */
const callOf = (url: string, method: string, input: unknown): [string, RequestInit] => {
  if (method !== 'GET')
    return [url, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) }]
  const values = Object.entries(Object(input)).map(([name, value]) => [name, String(value)])
  return [`${url}?${new URLSearchParams(values)}`, { method }]
}

afterAll(async () => {
  end.abort()
  await running
  await demo?.close()
  await chain?.remove()
})

test('every offer of every seller is bought, and the money arrives', async () => {
  const buyer = await openAnyBuyer(chain, DEV_DOLLAR)
  const bought: string[] = []
  for (const { id, endpoints } of sellers)
    for (const { method, path, price, listing } of endpoints) {
      if (price === null) continue
      // The client of MPP leaves its preferences in the request that it is given.
      const call = () => callOf(`${demo.origin}/${id}${path}`, method, listing['inputExample'])
      for (const { way, amount, token: currency, payee } of offersIn(await fetch(...call()))) {
        const before = await balanceOf(chain.rpcUrl, currency, payee)
        expect(await buyer.get(way)?.(...call()), `${id} ${way}`).toBeOneOf([200, 202])
        expect((await balanceOf(chain.rpcUrl, currency, payee)) - before, `${id} ${way}`).toBe(amount)
        bought.push(`${id} ${way}`)
      }
    }
  expect(bought).toEqual([
    ...['demo-places tempo/charge', 'demo-sun tempo/charge', 'demo-digest tempo/charge'],
    ...['demo-reports tempo/charge'],
    ...['demo-units evm/charge', 'demo-units tempo/charge', 'demo-units x402'],
    ...['demo-hashes tempo/session', 'demo-hashes tempo/charge', 'demo-moody tempo/charge'],
  ])
})

test('an authorization buys one call', async () => {
  const kept: Request[] = []
  const keeping: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    kept.push(request.clone())
    return fetch(request)
  }
  const buyer = await openAnyBuyer(chain, DEV_DOLLAR, keeping)
  const url = `${demo.origin}/demo-units/convert?value=10&from=mi&to=km`
  expect(await buyer.get('x402')?.(url, {})).toBe(200)
  const paid = kept.find(({ headers }) => headers.has('payment-signature'))
  expect((await fetch(paid ?? url)).status).toBe(402)
})

test('seven nodes in four stages', async () => {
  const quotes = new Quotes({
    ...{ app, clock, allowance: endless },
    egress: new Egress({ isLocalOrigin: (origin) => origin === demo.origin }),
    terms: besideDevChain(quoteTerms('1.1', parTokensDefault), chain.chainId),
    budget,
  })
  const quote = await quotes.quote(demoPlan, 'somebody', end.signal)
  const before = await balanceOf(chain.rpcUrl, PATH_USD, accountOf(1).address)
  const amount = BigInt(quote.totalAmountUnits)
  const jobId = await place(app, {
    ...{
      jobId: randomUUID(),
      payer,
      idempotencyKey: 'a-first-key',
      plan: demoPlan,
      quote,
      nowMs: Date.now(),
    },
    charge: {
      paymentId: `pay_${randomUUID()}`,
      method: 'charge',
      chainId: 1337,
      token,
      tokenDecimals: 6,
      amount,
    },
  })
  due.ring()
  const read = () => app.selectFrom('app.jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow()
  while ((await read()).ended_at === null) await changed.wait(clock, 500, end.signal)
  const nodes = await app.selectFrom('app.job_nodes').selectAll().where('job_id', '=', jobId).execute()
  const of = new Map(nodes.map((node) => [node.node_id, node]))
  expect(Object.fromEntries([...of].map(([id, { state, error_code: code }]) => [id, code ?? state]))).toEqual(
    {
      ...{
        paris: 'succeeded',
        london: 'succeeded',
        echo: 'succeeded',
        report: 'succeeded',
        summary: 'succeeded',
      },
      ...{ broken: 'seller_failed', after: 'dependency_failed' },
    },
  )
  expect(JSON.parse(of.get('report')?.output ?? '').report).toContain('# Places')
  expect(of.get('report')?.polls).toBe(2)
  // The chain's account of the wallet's outflow equals the job's cost, and each call was paid once.
  const spent = before - (await balanceOf(chain.rpcUrl, PATH_USD, accountOf(1).address))
  const spends = await readSpendsOf(app, jobId)
  expect(spends.map(({ state }) => state)).toEqual(Array(6).fill('settled'))
  expect(spends.reduce((sum, { amount: each }) => sum + each, 0n)).toBe(spent)
  const job = await read()
  expect(job.state).toBe('partially_succeeded')
  const balances = await readBalances(app)
  const fees = balances.find(({ account }) => account === 'costs:fees')?.amount ?? 0n
  expect(fees).toBeGreaterThan(0n)
  expect(BigInt(job.committed_units ?? 0)).toBe((spent * 11n + 9n) / 10n + fees)
  const refund = await app
    .selectFrom('app.payouts')
    .select('amount')
    .where('reference', '=', job.payment_id ?? '')
    .executeTakeFirst()
  expect(BigInt(refund?.amount ?? 0)).toBe(amount - BigInt(job.committed_units ?? 0))
  expect(balances.reduce((sum, each) => sum + each.amount, 0n)).toBe(0n)
  expect(balances.find(({ account }) => account === 'cost:undelivered')?.amount).toBe(1_000n)
})

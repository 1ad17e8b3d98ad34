// Goal: a quote is right or refused, whatever sellers answer, and asking for one has no effect.
// Method: a catalog of one seller on loopback, which writes down what it is asked.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { ApiError } from '#http/errors.ts'
import { SELLER_CALLS_PER_MINUTE } from '#orchestrator/allowance.ts'
import type { PlanRequest } from '#orchestrator/plan/plan.ts'
import { readPlan } from '#orchestrator/plan/readPlan.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { adoptHistory, readWallet } from '#rows/jobs/wallet.ts'
import { moveBudget } from '#rows/jobs/walletDays.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import type { Budget, BudgetOptions } from '#wallet/spend/Budget.ts'
import { budgetOf } from '../wallet/support/budget.ts'
import { ample } from '../wallet/support/wallet.ts'
import { openCatalog, type TestCatalog } from './support/catalog.ts'
import { countedOn } from './support/counted.ts'
import { endless } from './support/demo.ts'
import { lies, usdc } from './support/lyingOffers.ts'
import {
  type Answer,
  asks,
  challenge,
  openSeller,
  pathUsd,
  payee,
  type Seller,
  x402,
} from './support/seller.ts'

let catalog: TestCatalog
let seller: Seller
const ends: (() => unknown)[] = []
const paid = { intent: 'charge', method: 'tempo', protocol: 'mpp', amount: '10000' }
const endpoints = [
  { method: 'POST', path: '/buy', paymentOffers: [paid] },
  { method: 'POST', path: '/buy/:thing', paymentOffers: [paid], inputExample: { q: 'example' } },
  { method: 'GET', path: '/look', paymentOffers: [paid] },
  { method: 'GET', path: '/free' },
  { method: 'POST', path: '/effect' },
  { method: 'DELETE', path: '/effect', execution: { probePath: '/alive' } },
]

beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
  seller = await openSeller((end) => void ends.push(end))
  const service = (id: string, more: object = {}) => ({
    id,
    serviceUrl: `${seller.origin}/${id}`,
    endpoints,
    ...more,
  })
  await catalog.importAs('own', [
    service('shop'),
    service('strict', {
      recipientPolicy: { mode: 'allowlist', recipients: [payee.toUpperCase().replace('0X', '0x')] },
    }),
  ])
})
afterAll(async () => {
  for (const end of ends) await end()
})
beforeEach(() => {
  seller.asked.length = 0
})

const clock = { ...systemRuntime().clock, offset: 0, now: () => Date.now() + clock.offset }

function quotes(multiplier = '1', allowance = endless, budget: Budget | null = null) {
  return new Quotes({
    budget,
    app: catalog.reads,
    egress: new Egress({ isLocalOrigin: (origin) => origin === seller.origin }),
    clock,
    allowance,
    terms: quoteTerms(multiplier, parTokensDefault),
  })
}

type Node = PlanRequest['nodes'][number]
const node = (more: Partial<Node> = {}): Node => ({
  id: 'a',
  serviceId: 'shop',
  method: 'POST',
  path: '/buy',
  ...more,
})
const quote = (nodes: readonly Node[], from = quotes()) =>
  from.quote(readPlan({ nodes }), 'somebody', new AbortController().signal)

const refusal = async (asking: Promise<unknown>): Promise<ApiError> => {
  const error = await asking.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ApiError)) throw new Error('was not refused')
  return error
}

describe('a quote', () => {
  it('is the price of each node with the real input, in stages, each rounded up, times the margin', async () => {
    seller.on('/shop/buy', asks(challenge({ amount: '10001' })))
    seller.on('/shop/look', asks(challenge({ amount: '7' })))
    seller.on('/shop/buy/pen', asks(challenge({ amount: '30' })))
    const found = await quote(
      [
        node({ input: { q: 1 } }),
        node({ id: 'b', method: 'GET', path: '/look', input: { page: 2, tag: ['x', 'y'], empty: null } }),
        node({ id: 'c', path: '/buy/pen', input: { q: 'flow://a/output#/id' }, dependsOn: ['a', 'b'] }),
      ],
      quotes('1.05'),
    )
    expect(found).toMatchObject({
      advisory: true,
      currency: 'USDC',
      decimals: 6,
      costMultiplier: '1.05',
      dynamic: true,
      stages: [['a', 'b'], ['c']],
      totalNetAmountUnits: '10038',
      totalNetAmount: '0.010038',
      totalAmountUnits: '10540',
      totalAmount: '0.01054',
    })
    expect(
      found.nodes.map(({ nodeId, amountUnits, input, source }) => [nodeId, amountUnits, input, source]),
    ).toEqual([
      ['a', '10001', 'plan', 'live'],
      ['b', '7', 'plan', 'live'],
      ['c', '30', 'example', 'live'],
    ])
    expect(new Set(seller.asked.map(({ method, url, body }) => `${method} ${url} ${body}`))).toEqual(
      new Set([
        'POST /shop/buy {"q":1}',
        'GET /shop/look?page=2&tag=x&tag=y ',
        'POST /shop/buy/pen {"q":"example"}',
      ]),
    )
    expect(seller.asked.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  it('takes the cheapest offer that can be paid, of either protocol', async () => {
    const dear = challenge({ amount: '50000' })
    const cheap = challenge({ amount: '1', currency: `0x${'1'.repeat(40)}` })
    seller.on('/shop/buy', (_, response) => {
      response.writeHead(402, { 'www-authenticate': [dear, cheap], 'payment-required': x402() }).end()
    })
    expect((await quote([node()])).totalNetAmountUnits).toBe('20000')
    const old = { scheme: 'exact', network: 'base', maxAmountRequired: '5', asset: usdc, payTo: payee }
    seller.on('/shop/buy', (_, response) => {
      response.writeHead(402).end(JSON.stringify({ x402Version: 1, accepts: [old] }))
    })
    expect((await quote([node()])).totalNetAmountUnits).toBe('5')
  })

  it('asks a seller once for the same plan until it is over, and for equal calls of one plan', async () => {
    seller.on('/shop/buy', asks(challenge({}, { expires: new Date(Date.now() + 60_000).toISOString() })))
    const from = quotes()
    const nodes = [node(), node({ id: 'b' }), node({ id: 'c', input: {} })]
    const [first, second] = await Promise.all([quote(nodes, from), quote(nodes, from)])
    expect(first).toBe(second)
    expect(first.totalNetAmountUnits).toBe('30000')
    expect(await quote(nodes, from)).toBe(first)
    expect(seller.asked).toHaveLength(1)
    expect(first.validUntil).toBe(first.nodes[0]?.expiresAt)
    seller.on('/shop/buy', asks(challenge({ amount: '1' })))
    clock.offset = 61_000
    const later = await quote(nodes, from)
    clock.offset = 0
    expect(later.totalNetAmountUnits).toBe('3')
    expect(seller.asked).toHaveLength(2)
    const lasts = Date.parse(later.validUntil ?? '') - Date.parse(later.quotedAt)
    expect(lasts).toBe(300_000)
  })

  it('calls what lists no price by GET or at its probe path alone, and it costs nothing', async () => {
    const fine: Answer = (_, response) => void response.writeHead(200).end('{}')
    for (const path of ['/shop/free', '/shop/effect', '/shop/alive']) seller.on(path, fine)
    const found = await quote([
      node({ id: 'a', method: 'GET', path: '/free', input: { q: 'x' } }),
      node({ id: 'b', path: '/effect' }),
      node({ id: 'c', method: 'DELETE', path: '/effect' }),
    ])
    expect(found.totalAmountUnits).toBe('0')
    expect(seller.asked.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
      'GET /shop/alive',
      'GET /shop/free?q=x',
    ])
  })

  it('names every silent node, and is refused as a whole', async () => {
    seller.on('/shop/buy', asks(challenge()))
    seller.on('/shop/look', (_, response) => void response.writeHead(400).end('{}'))
    const { code, details } = await refusal(
      quote([
        node(),
        node({ id: 'b', method: 'GET', path: '/look' }),
        node({ id: 'c', serviceId: 'strict', path: '/buy/x' }),
      ]),
    )
    expect(code).toBe('quote_unavailable')
    expect(details.map(({ path, message }) => `${path.join('.')} ${message}`)).toEqual([
      'body.nodes.1 b: shop GET /look answered 400 where a price was asked for',
      'body.nodes.2 c: strict POST /buy/x answered 404 where a price was asked for',
    ])
  })

  it('is refused to a caller that has had too many, and given to another', async () => {
    seller.on('/shop/buy', asks(challenge()))
    const { sellerCalls } = countedOn(catalog.app)
    const from = quotes('1', sellerCalls)
    const many = Array.from({ length: 51 }, (_, index) => node({ id: `n${index}`, input: { index } }))
    let turn = 0
    // A minute may end in between, once.
    const refused = async () => {
      const caller = `busy ${turn++}`
      await sellerCalls(caller, SELLER_CALLS_PER_MINUTE - 50)
      const quoting = from.quote(readPlan({ nodes: many }), caller, new AbortController().signal)
      return quoting.catch((error: unknown) => error)
    }
    await expect.poll(refused).toMatchObject({ code: 'rate_limit_exceeded' })
    const other = await from.quote(
      readPlan({ nodes: [node({ input: 'y' })] }),
      'other',
      new AbortController().signal,
    )
    expect(other.totalNetAmountUnits).toBe('10000')
  })
})

describe('the lies of sellers', () => {
  it.each(Object.entries(lies))('%s is no price', async (_name, answer) => {
    seller.on('/strict/buy', answer)
    const asking = quote([node({ serviceId: 'strict' })])
    expect((await refusal(asking)).code).toBe('quote_unavailable')
  })

  it('none of them hides an honest offer beside it', async () => {
    const bad = [challenge({ amount: '-1' }), challenge().slice(0, -5), challenge({ currency: payee })]
    seller.on('/strict/buy', asks(...bad, challenge({ amount: '42', currency: pathUsd })))
    expect((await quote([node({ serviceId: 'strict' })])).totalNetAmountUnits).toBe('42')
  })
})

const walletOf = (balance: bigint | null, options: Partial<BudgetOptions> = {}, gasPrice = 0n) =>
  budgetOf(balance, { app: catalog.app, clock, ...options }, gasPrice)
const RICH = 10n ** 12n

describe('where a wallet buys', () => {
  beforeAll(() => adoptHistory(catalog.app, 0))
  const unpayable: Readonly<Record<string, Answer>> = {
    'a session': asks(challenge({}, { intent: 'session' })),
    'a charge that is split': asks(
      challenge({ methodDetails: { chainId: 4217, splits: [{ amount: '1', recipient: payee }] } }),
    ),
    'a charge that is pushed': asks(
      challenge({ methodDetails: { chainId: 4217, supportedModes: ['push'] } }),
    ),
    'a chain that it has no node of': (_, response) =>
      void response.writeHead(402, { 'payment-required': x402() }).end(),
    'x402 of the first version': (_, response) => {
      const old = { scheme: 'exact', network: 'base', maxAmountRequired: '5', asset: usdc, payTo: payee }
      response.writeHead(402).end(JSON.stringify({ x402Version: 1, accepts: [old] }))
    },
  }
  it.each(Object.entries(unpayable))('%s is no price', async (_, answer) => {
    seller.on('/shop/buy', answer)
    const { code, details } = await refusal(quote([node()], quotes('1', endless, walletOf(RICH))))
    expect([code, details.map(({ message }) => message)]).toEqual([
      'quote_unavailable',
      ['a: shop POST /buy asks for money in no way that is paid from here'],
    ])
  })

  it('the price is that of the offer that a purchase would pay, not of a cheaper one', async () => {
    const session = challenge({ amount: '1' }, { intent: 'session' })
    seller.on('/shop/buy', (_, response) => {
      const offers = [session, challenge({ amount: '30000' })]
      response.writeHead(402, { 'www-authenticate': offers, 'payment-required': x402() }).end()
    })
    const found = await quote([node()], quotes('1', endless, walletOf(RICH)))
    expect(found.totalNetAmountUnits).toBe('30000')
  })

  it('the price has what the chain is stated to take for each call that is paid, once', async () => {
    seller.on('/shop/buy', asks(challenge({ amount: '10001' })))
    seller.on('/shop/free', (_, response) => void response.writeHead(200).end())
    const nodes = [
      ...[node(), node({ id: 'b' }), node({ id: 'c', method: 'GET', path: '/free' })],
      node({ id: 'd', path: '/buy/kind' }),
    ]
    seller.on(
      '/shop/buy/kind',
      asks(challenge({ amount: '1', methodDetails: { chainId: 4217, feePayer: true } })),
    )
    const wallet = walletOf(RICH, {}, 21_000_000_000n)
    expect(await quote(nodes, quotes('1.05', endless, wallet))).toMatchObject({
      ...{ totalNetAmountUnits: '20003', totalAmountUnits: `${21_004 + 2 * 8_820}` },
    })
  })

  it('a job that may not spend its prices with the stated fees has no price', async () => {
    seller.on('/shop/buy', asks(challenge()))
    const nodes = [node(), node({ id: 'b', input: { other: true } })]
    // Two prices, two stated fees, and the bound of one of them.
    const needed = 20_000n + 8_820n + 50_000n
    const wallet = (jobUnits: bigint) => walletOf(RICH, { limits: { ...ample, jobUnits } }, 21_000_000_000n)
    expect((await quote(nodes, quotes('1', endless, wallet(needed)))).totalAmountUnits).toBe('37640')
    const refused = await refusal(quote(nodes, quotes('1', endless, wallet(needed - 1n))))
    expect(refused.code).toBe('quote_unavailable')
  })

  it('a paused wallet gives no price, also for a plan that had one, and none is needed for what is free', async () => {
    seller.on('/shop/buy', asks(challenge()))
    seller.on('/shop/free', (_, response) => void response.writeHead(200).end('{}'))
    const from = quotes('1', endless, walletOf(RICH))
    expect((await quote([node()], from)).totalNetAmountUnits).toBe('10000')
    await pause(catalog.app, 'wallet', 'a secret reason')
    onTestFinished(async () => void (await resume(catalog.app, 'wallet')))
    const nodes = [node(), node({ id: 'b', method: 'GET', path: '/free' })]
    for (const asked of [[node()], nodes]) {
      const { code, details } = await refusal(quote(asked, from))
      expect([code, details.map(({ message }) => message)]).toEqual([
        'quote_unavailable',
        ['a: shop POST /buy is not bought now: the wallet is paused by its operator'],
      ])
    }
    expect((await quote([node({ method: 'GET', path: '/free' })], from)).totalAmountUnits).toBe('0')
  })

  it.each([
    ['has too little of the token', walletOf.bind(null, 10_000n), 'the wallet has too little of the token'],
    ['hears no node of the chain', walletOf.bind(null, null), 'no node answers'],
    ['looks for lost payments', () => walletOf(RICH, { mayPay: () => false }), 'the wallet looks for what'],
  ] as const)('a wallet that %s gives no price', async (_, wallet, why) => {
    seller.on('/shop/buy', asks(challenge()))
    const { code, message } = await refusal(quote([node()], quotes('1', endless, wallet())))
    expect([code, message]).toEqual(['quote_unavailable', expect.stringContaining(why)])
    expect(message).not.toMatch(/\d{5}/)
  })

  it.each([
    ['the day', 'dayUnits', /^\d+$/],
    ['the service', 'serviceUnits', /^\d+$/],
    ['the payee', 'payeeUnits', /^\d+$/],
    ['one job', 'jobUnits', /^undefined$/],
  ] as const)('what is left of %s bounds the price of the whole plan', async (_, limit, retryAfter) => {
    seller.on('/shop/buy', asks(challenge()))
    const { day } = await readWallet(catalog.app)
    const place = { day, serviceId: 'shop', payee, payer: null }
    await moveBudget(catalog.app, place, 5_000n)
    onTestFinished(async () => void (await moveBudget(catalog.app, place, -5_000n)))
    // Two prices, and the highest fees: of one call at least, of both where a job may spend that.
    const needed = limit === 'jobUnits' ? 70_000n : 5_000n + 20_000n + 100_000n
    const wallet = (units: bigint) => walletOf(RICH, { limits: { ...ample, [limit]: units } })
    const nodes = [node(), node({ id: 'b', input: { other: true } })]
    const enough = quotes('1', endless, wallet(needed))
    expect((await quote(nodes, enough)).totalNetAmountUnits).toBe('20000')
    const { code, details, headers } = await refusal(quote(nodes, quotes('1', endless, wallet(needed - 1n))))
    expect([code, details.map(({ path }) => path.at(-1))]).toEqual(['quote_unavailable', [0, 1]])
    expect(`${headers['Retry-After']}`).toMatch(retryAfter)
  })
})

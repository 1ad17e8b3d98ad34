// Goal: a plan is bought once by exactly its quoted price, by any of several processes; what is
// refused is not paid for, and what is not known yet is never asked to be paid again.
// Method: servers over one Postgres and a dev chain; payers are the clients of the payment library.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBalances } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { forgedOf } from '../../../payments/support/forged.ts'
import { type CountingNode, countingNode, withinAMinute } from '../../../payments/support/refused.ts'
import { lower } from '../../../payments/support/secondChain.ts'
import { accountOf, balanceOf, PATH_USD, payer } from '../../../payments/support/shop.ts'
import { fivefold, hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
/** One call of the demo's hashes. */
const HASH_PRICE = 100n
const recipient = lower(accountOf(19).address)
let chain: Awaited<ReturnType<typeof startJobShop>>['chain']
let shop: Awaited<ReturnType<typeof startJobShop>>['shop']
const ends: (() => unknown)[] = []

beforeAll(async () => {
  ;({ chain, shop } = await startJobShop((end) => void ends.push(end), 19))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)
const client = (index = 1) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
const requestOf = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const post = (body: object, headers: Record<string, string> = {}, origin = shop.origin) =>
  fetch(`${origin}/v1/jobs`, requestOf(body, headers))
const jobIdIn = async (answer: Response): Promise<unknown> => Object(await answer.json()).jobId
const jobOf = (plan: object, more: object = {}) => ({ idempotencyKey: randomUUID(), plan, ...more })
const rows = async () => ({
  payments: (await listPayments(shop.catalog.app, 1_000)).length,
  jobs: (await shop.catalog.app.selectFrom('app.jobs').select('id').execute()).length,
  orders: (await shop.catalog.app.selectFrom('app.job_orders').select('job_id').execute()).length,
})

/**
 * A client's result in the end: it pays anew if its payment came too late, and sends the same once more if
 * the price or the outcome is not known yet.
 */
async function buy(body: object, authorization: string, origin: string, index: number) {
  const headers = { authorization, 'x-caller': randomUUID() }
  for (;;) {
    const answer = await post(body, headers, origin)
    if (answer.status === 402) headers.authorization = await client(index).createCredential(answer)
    else if (!notYet.has(answer.status)) return { status: answer.status, ...Object(await answer.json()) }
    await answer.body?.cancel()
  }
}
/** quote_unavailable, settlement_pending. */
const notYet = new Set([502, 503])

/** A credential for the job, made and not sent. */
async function credentialFor(body: object, index = 1): Promise<string> {
  const refused = await client(index).rawFetch(`${shop.origin}/v1/jobs`, requestOf(body))
  return client(index).createCredential(refused)
}

describe('a plan', () => {
  it('is told to be wrong before anything is to be paid', async () => {
    const answer = await post(jobOf({ nodes: [] }))
    expect([answer.status, await answer.json()]).toMatchObject([422, { error: { code: 'plan_invalid' } }])
    const nodes = fivefold.nodes.map((node, index) => (index === 1 ? { ...node, dependsOn: ['x'] } : node))
    const unlisted = await post(jobOf({ nodes }))
    const { path } = Object(await unlisted.json()).error.details[0]
    expect([unlisted.status, path]).toEqual([422, ['body', 'plan', 'nodes', 1, 'dependsOn', 0]])
  })

  it('is offered at its quoted price, and writes no row', async () => {
    const before = await rows()
    const answer = await post(jobOf(fivefold))
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const [, request = ''] = answer.headers.get('www-authenticate')?.match(/request="([\w-]+)"/) ?? []
    expect(JSON.parse(Buffer.from(request, 'base64url').toString())).toMatchObject({ amount: '63100' })
    expect(await rows()).toEqual(before)
  })

  it('is bought by exactly that price, and has a job, a receipt and entries', async () => {
    const [moneyBefore, before] = [await received(), await rows()]
    const body = jobOf(fivefold)
    const answer = await client().fetch(`${shop.origin}/v1/jobs`, requestOf(body))
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { jobId: expect.any(String), ready: false },
    ])
    expect(answer.headers.get('payment-receipt')).toBeTruthy()
    expect((await received()) - moneyBefore).toBe(63_100n)
    const after = await rows()
    expect([after.jobs - before.jobs, after.orders]).toEqual([1, 0])
    const balances = await readBalances(shop.catalog.app)
    expect(balances.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
  })

  it('with another key in its header is refused', async () => {
    const answer = await post(jobOf(fivefold), { 'idempotency-key': 'another-key' })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'request_invalid' } }])
  })

  it.each(['max_spend', 'approved_total'])('above %s is refused, and nothing is paid', async (name) => {
    const body = jobOf(fivefold)
    const authorization = await credentialFor(body)
    const before = await received()
    for (const headers of [{}, { authorization }]) {
      const answer = await post({ ...body, [name]: '0.0630999' }, headers)
      expect([answer.status, await answer.json()]).toMatchObject([
        403,
        { error: { code: 'spend_limit_exceeded' } },
      ])
    }
    expect((await post({ ...body, [name]: '0.0631' })).status).toBe(402)
    expect(await received()).toBe(before)
  })

  it('above the operator’s bound is refused', async () => {
    const { origin } = await shop.serve({ costMax: '0.06' })
    expect((await post(jobOf(fivefold), {}, origin)).status).toBe(403)
  })
})

describe('a key', () => {
  it('gives its job again, whether the same payment comes or another one, and pays once', async () => {
    const body = jobOf(hashing('again'))
    const [one, other] = [await credentialFor(body), await credentialFor(body)]
    const before = await received()
    const first = await post(body, { authorization: one })
    const jobId = await jobIdIn(first)
    const receipt = first.headers.get('payment-receipt')
    for (const authorization of [one, other, one]) {
      const answer = await post(body, { authorization })
      expect([answer.status, await jobIdIn(answer)]).toEqual([200, jobId])
      expect(answer.headers.get('payment-receipt')).toBe(authorization === one ? receipt : null)
    }
    expect((await received()) - before).toBe(HASH_PRICE)
  })

  it('of a job that has ended is told that its results are there', async () => {
    const body = jobOf(hashing('ended'))
    const authorization = await credentialFor(body)
    const first = Object(await (await post(body, { authorization })).json())
    expect(first).toEqual({ jobId: expect.any(String), ready: false })
    await shop.catalog.app
      .updateTable('app.jobs')
      .set({ state: 'failed', ended_at: new Date(), due_at: null })
      .where('id', '=', first.jobId)
      .execute()
    const again = await post(body, { authorization })
    expect([again.status, await again.json()]).toEqual([200, { jobId: first.jobId, ready: true }])
    const read = await fetch(`${shop.origin}/v1/jobs/${first.jobId}`)
    expect([read.status, await read.json()]).toMatchObject([200, { jobId: first.jobId, ready: true }])
  })

  it('of another plan is a conflict, and nothing is paid', async () => {
    const body = jobOf(hashing('one'))
    await client().fetch(`${shop.origin}/v1/jobs`, requestOf(body))
    const before = await received()
    const changed = { ...body, plan: hashing('two') }
    const answer = await post(changed, { authorization: await credentialFor(changed) })
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { error: { code: 'idempotency_conflict' } },
    ])
    expect(await received()).toBe(before)
  })

  it('tells nobody a job of a payer whose key has not signed', async () => {
    const body = jobOf(hashing('told'))
    const told = await post(body, { authorization: await credentialFor(body) })
    const jobId = String(await jobIdIn(told))
    const forged = await forgedOf(await credentialFor(body, 3), accountOf(1).address)
    const answer = await post(body, { authorization: forged })
    expect(answer.status).toBe(409)
    expect(await answer.text()).not.toContain(jobId)
  })

  it('is not sold once it calls a suspended endpoint, whatever it was quoted before', async () => {
    const body = jobOf(hashing('suspended'))
    const authorization = await credentialFor(body)
    const [moneyBefore, before] = [await received(), await rows()]
    const suspended = { suspended_for: 'why', suspended_chain_id: chainId, suspended_at: new Date() }
    const suspend = (until: Date) =>
      shop.catalog.app
        .updateTable('app.catalog_health')
        .set({ ...suspended, suspended_until: until })
        .where('service_id', '=', 'demo-hashes')
        .execute()
    await suspend(new Date(Date.now() + 3_600_000))
    for (const headers of [{}, { authorization }]) {
      const answer = await post(body, headers)
      expect([answer.status, await answer.json()]).toMatchObject([
        502,
        {
          error: {
            code: 'quote_unavailable',
            message: expect.stringContaining('demo-hashes POST /hash is suspended'),
          },
        },
      ])
    }
    expect([await received(), await rows()]).toEqual([moneyBefore, before])
    await suspend(new Date())
    expect((await post(body, { authorization })).status).toBe(200)
  })

  it('is the payer’s own: another payer’s job of the same key is another job', async () => {
    const body = jobOf(hashing('mine'))
    const answers = [1, 2].map((index) => client(index).fetch(`${shop.origin}/v1/jobs`, requestOf(body)))
    const ids = await Promise.all(answers.map(async (answer) => jobIdIn(await answer)))
    expect(new Set(ids).size).toBe(2)
  })

  it('pays once and has one job, however many requests come at once to two processes', async () => {
    const { origin: second } = await shop.serve()
    const body = jobOf(hashing('parallel'))
    const credentials = await Promise.all(Array.from({ length: 10 }, () => credentialFor(body, 3)))
    const settled = async () =>
      (await listPayments(shop.catalog.app, 1_000)).filter(({ state }) => state === 'settled').length
    const [moneyBefore, before, settledBefore] = [await received(), await rows(), await settled()]
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const authorization = credentials[index % credentials.length] ?? ''
        return buy(body, authorization, index % 2 === 0 ? shop.origin : second, 3)
      }),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1)
    expect((await received()) - moneyBefore).toBe(HASH_PRICE)
    const after = await rows()
    expect([after.jobs - before.jobs, (await settled()) - settledBefore, after.orders]).toEqual([1, 1, 0])
  })
})

describe('a payment', () => {
  it('is taken by another process than the one that asked for it, at the price that was asked', async () => {
    const quotes = {
      quote: () => Promise.reject(new Error('sellers were asked again')),
      pricedCalls: () => null,
    }
    const { origin: second } = await shop.serve({ quotes })
    const body = jobOf(hashing('elsewhere'))
    const before = await received()
    const answer = await post(body, { authorization: await credentialFor(body) }, second)
    expect([answer.status, (await received()) - before]).toEqual([200, HASH_PRICE])
  })

  it.each([
    ['another plan', (body: object) => ({ ...body, plan: hashing('cheaper') })],
    ['another key', (body: object) => ({ ...body, idempotencyKey: randomUUID() })],
  ])('is not taken for %s: the price is asked again', async (_, change) => {
    const body = jobOf(hashing('bound'))
    const authorization = await credentialFor(body)
    const before = await received()
    const answer = await post(change(body), { authorization })
    expect(answer.status).toBe(402)
    expect(answer.headers.get('www-authenticate')).toMatch(/^Payment /)
    expect(await received()).toBe(before)
  })

  it('that is none is answered with what is wrong with it, and a new challenge', async () => {
    const answer = await post(jobOf(hashing('broken')), { authorization: 'Payment e30' })
    expect([answer.status, await answer.json()]).toMatchObject([
      402,
      { type: 'https://paymentauth.org/problems/malformed-credential' },
    ])
  })
})

describe('an account', () => {
  it('proves itself by a charge of zero, once for each challenge, and sees its jobs and spend', async () => {
    const mine = client(4)
    const body = jobOf(hashing('seen'))
    const jobId = await jobIdIn(await mine.fetch(`${shop.origin}/v1/jobs`, requestOf(body)))
    const before = await received()
    const told = await mine.fetch(`${shop.origin}/v1/jobs`)
    expect([told.status, await told.json()]).toMatchObject([
      200,
      {
        payer: lower(accountOf(4).address),
        jobs: [{ jobId, state: 'queued', charged: '0.0001', transactionHash: expect.stringMatching(/^0x/) }],
        spend: [{ chainId, token: PATH_USD, jobs: 1, charged: '0.0001', committed: '0' }],
        days: [],
      },
    ])
    expect(await received()).toBe(before)
  })

  it('is not proved by a proof that was used, or was made for another request', async () => {
    const mine = client(4)
    const refused = await mine.rawFetch(`${shop.origin}/v1/jobs`)
    const authorization = await mine.createCredential(refused)
    const ask = (method: string) =>
      fetch(`${shop.origin}/v1/jobs`, { method, headers: { authorization } }).then(({ status }) => status)
    expect([await ask('HEAD'), await ask('GET'), await ask('GET')]).toEqual([402, 200, 402])
  })

  it('resumes by HEAD, which GET does not shadow, and which makes no row of a job', async () => {
    const before = await rows()
    const refused = await fetch(`${shop.origin}/v1/jobs`, { method: 'HEAD' })
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      402,
      expect.stringContaining('intent="charge"'),
    ])
    const answer = await client(5).fetch(`${shop.origin}/v1/jobs`, { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(await rows()).toEqual(before)
  })

  it('cancels the jobs that it bought, again and again, and no others', async () => {
    const jobId = await jobIdIn(
      await client(4).fetch(`${shop.origin}/v1/jobs`, requestOf(jobOf(hashing('cancelled')))),
    )
    const cancel = (by: number, id = jobId) =>
      client(by).fetch(`${shop.origin}/v1/jobs/${id}/cancel`, { method: 'POST' })
    const asked = () =>
      shop.catalog.app
        .selectFrom('app.jobs')
        .select('cancel_requested_at')
        .where('id', '=', String(jobId))
        .executeTakeFirstOrThrow()
    const other = await cancel(5)
    expect([other.status, await other.json()]).toMatchObject([403, { error: { code: 'forbidden' } }])
    expect(await asked()).toEqual({ cancel_requested_at: null })
    const before = await received()
    for (const _ of ['first', 'again']) {
      const answer = await cancel(4)
      expect([answer.status, await answer.json()]).toEqual([200, { jobId, ready: false }])
    }
    expect(await received()).toBe(before)
    expect(await asked()).toEqual({ cancel_requested_at: expect.any(Date) })
    expect((await cancel(4, randomUUID())).status).toBe(404)
  })
})

describe('a caller of whom sixty payments were refused within a minute', () => {
  type Ask = (caller: string, authorization: string) => Promise<number>
  const body = jobOf(hashing('refused'))
  let node: CountingNode
  let origin: string
  beforeAll(async () => {
    node = countingNode(chain.rpcUrl)
    ;({ origin } = await shop.serve({ transport: node.transport }))
  })
  const ask = (path: string, caller: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { ...init, headers: { ...init.headers, 'x-caller': caller } })
  const order: Ask = async (caller, authorization) =>
    (await ask('/v1/jobs', caller, requestOf(body, { authorization }))).status
  /** The status that the REST door has for the same. */
  const orderAsAgent: Ask = async (caller, authorization) => {
    const { idempotencyKey: idempotency_key, plan } = body
    const params = { name: 'create_job', arguments: { idempotency_key, plan } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const headers = { authorization, accept: 'application/json, text/event-stream' }
    const { error, result } = Object(await (await ask('/mcp', caller, requestOf(message, headers))).json())
    if (error) return 402
    return result.structuredContent?.job
      ? 200
      : JSON.stringify(result).includes('rate_limit_exceeded')
        ? 429
        : 500
  }
  const prove: Ask = async (caller, authorization) =>
    (await ask('/v1/jobs', caller, { headers: { authorization } })).status
  const proof = async () => client(6).createCredential(await client(6).rawFetch(`${shop.origin}/v1/jobs`))

  it.each([
    ['a job', order, () => credentialFor(body, 6)],
    ['an agent’s job', orderAsAgent, () => credentialFor(body, 6)],
    ['a proof', prove, proof],
  ] as const)('has to wait with %s, and no node is asked; others have not', async (_, send, good) => {
    const told = await withinAMinute(async () => {
      const [caller, credential] = [randomUUID(), await good()]
      const refused = new Set<number>()
      for (let sent = 0; sent < 60; sent++) refused.add(await send(caller, 'Payment e30'))
      const before = node.calls
      const own = await send(caller, credential)
      return { refused, own, asked: node.calls - before, others: await send(randomUUID(), credential) }
    })
    expect(told).toEqual({ refused: new Set([402]), own: 429, asked: 0, others: 200 })
  })

  it('is the same at every door', async () => {
    const told = await withinAMinute(async () => {
      const caller = randomUUID()
      for (let sent = 0; sent < 20; sent++)
        for (const send of [order, orderAsAgent, prove]) await send(caller, 'Payment e30')
      return Promise.all([order, orderAsAgent, prove].map((send) => send(caller, 'Payment e30')))
    })
    expect(told).toEqual([429, 429, 429])
  })
})

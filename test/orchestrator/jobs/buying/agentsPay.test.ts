// Goal: an agent buys a plan by create_job, once for its key, by the price that it was told; without a
// payment it gets the request that buys it, and what is refused is answered by a challenge.
// Method: the door on loopback, asked by the client of either revision, on a dev chain; payers are the
// payment library's client for this protocol.
import { randomUUID } from 'node:crypto'
import { Credential } from 'mppx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { itemsOf, membersOf } from '#primitives.ts'
import { accountOf, balanceOf, PATH_USD, payer } from '../../../payments/support/shop.ts'
import { type Agent, agents } from '../../support/mcpClients.ts'
import { fivefold, hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
const recipient: `0x${string}` = `0x${accountOf(19).address.slice(2).toLowerCase()}`
const CREDENTIAL = 'org.paymentauth/credential'
const REQUIRED = 'org.paymentauth/payment-required'
const RECEIPT = 'org.paymentauth/receipt'
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
const jobs = async () => (await shop.catalog.app.selectFrom('app.jobs').select('id').execute()).length
/** With input and dependsOn of each node, as tools demand. */
const orderOf = ({ nodes }: typeof fivefold = fivefold, more: object = {}) => ({
  ...{ idempotency_key: randomUUID(), plan: { nodes } },
  ...more,
})
const hash = (text: string) => ({ nodes: hashing(text).nodes.map((node) => ({ ...node, dependsOn: [] })) })

/** A payer's credential, signed for the order and not sent. */
async function credentialFor(agent: Agent, order: Readonly<Record<string, unknown>>) {
  const { _meta } = await agent.call('create_job', order)
  const [challenge] = itemsOf(membersOf(membersOf(_meta)[REQUIRED])['challenges'])
  const { rest } = membersOf(
    membersOf((await agent.call('create_job', order))['structuredContent'])['handoff'],
  )
  const { url, method, body } = membersOf(rest)
  const headers = { 'content-type': 'application/json' }
  const asked = await fetch(`${url}`, { method: `${method}`, headers, body: JSON.stringify(body) })
  const text = await payer(accountOf(2), { rpcUrl: chain.rpcUrl, chainId }).createCredential(asked)
  expect(membersOf(challenge)).toMatchObject({ method: 'tempo', intent: 'charge' })
  return { text, credential: Credential.deserialize(text) }
}

/** The protocol's error that a call ends in. */
const errorOf = (call: Promise<unknown>) =>
  call.then(
    (told) => Promise.reject(new Error(`it was answered: ${JSON.stringify(told)}`)),
    (error: unknown) => Object(error),
  )

describe.each(agents)('an agent of $revision', ({ connect }) => {
  let agent: Agent
  let paying: Agent
  beforeAll(async () => {
    agent = await connect(shop.origin)
    paying = await connect(shop.origin)
    paying.payAs(accountOf(1), { rpcUrl: chain.rpcUrl, chainId })
    ends.push(agent.close, paying.close)
  })

  it('that does not pay gets the request that buys the plan, and challenges', async () => {
    const before = [await jobs(), await received()]
    const order = orderOf()
    const { idempotency_key: idempotencyKey, plan } = order
    const capped = JSON.stringify({ idempotencyKey, max_spend: '0.0631', plan })
    const { structuredContent, isError, _meta } = await agent.call('create_job', order)
    expect(isError).toBeUndefined()
    expect(structuredContent).toEqual({
      handoff: {
        ...{ status: 'payment_required', nextAction: 'run_rest_request', maxSpend: '0.0631' },
        rest: {
          ...{ method: 'POST', url: `${shop.origin}/v1/jobs` },
          body: { idempotencyKey, plan },
        },
        client: { executable: 'npx', arguments: ['mppx', `${shop.origin}/v1/jobs`, '--json-body', capped] },
      },
    })
    expect(membersOf(_meta)[REQUIRED]).toMatchObject({
      httpStatus: 402,
      challenges: [{ method: 'tempo', intent: 'charge', request: { amount: '63100' } }, {}],
    })
    expect([await jobs(), await received()]).toEqual(before)
  })

  it('that pays has a job and a receipt, and the same job for the same key', async () => {
    const before = await received()
    const order = orderOf()
    const told = await paying.call('create_job', order)
    const { jobId } = membersOf(membersOf(told['structuredContent'])['job'])
    expect(told['structuredContent']).toEqual({ job: { jobId: expect.any(String), ready: false } })
    const receipt = { status: 'success', method: 'tempo', challengeId: expect.any(String) }
    expect(membersOf(told['_meta'])[RECEIPT]).toMatchObject(receipt)
    expect((await received()) - before).toBe(63_100n)
    const again = await paying.call('create_job', order)
    expect(again['structuredContent']).toEqual({ job: { jobId, ready: false } })
    expect((await received()) - before).toBe(63_100n)
    const read = await agent.call('get_job', { job_id: jobId })
    expect(read['structuredContent']).toMatchObject({ job: { jobId, ready: false } })
    const other = await paying.call('create_job', { ...order, plan: hash('other') })
    expect(JSON.stringify(other)).toContain('idempotency_conflict')
  })

  it('pays in _meta or in a header, once, whichever request comes twice', async () => {
    const order = orderOf(hash('twice'))
    const { text, credential } = await credentialFor(agent, order)
    const before = await received()
    const meta = { [CREDENTIAL]: credential }
    const told = await Promise.all([1, 2].map(() => agent.call('create_job', order, meta)))
    const ids = told.map((each) => membersOf(membersOf(each['structuredContent'])['job'])['jobId'])
    expect(new Set(ids)).toEqual(new Set([expect.any(String)]))
    expect((await received()) - before).toBe(100n)
    const message = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'create_job', arguments: order },
    }
    const answer = await fetch(`${shop.origin}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: text, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    })
    expect(await answer.json()).toMatchObject({
      result: { structuredContent: { job: { jobId: ids[0] } }, _meta: { [RECEIPT]: { status: 'success' } } },
    })
    expect((await received()) - before).toBe(100n)
  })

  it('that asks for no answer buys nothing', async () => {
    const order = orderOf(hash('notified'))
    const { text: authorization } = await credentialFor(agent, order)
    const before = [await jobs(), await received()]
    const params = { name: 'create_job', arguments: order }
    const answer = await fetch(`${shop.origin}/mcp`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', params }),
    })
    expect(answer.status).toBe(202)
    expect([await jobs(), await received()]).toEqual(before)
  })

  it('whose payment is of another plan, or of none, is told what to pay', async () => {
    const order = orderOf(hash('one'))
    const { credential } = await credentialFor(agent, order)
    const before = await received()
    const other = { ...order, plan: hash('other') }
    const refused = await errorOf(agent.call('create_job', other, { [CREDENTIAL]: credential }))
    expect(refused).toMatchObject({
      code: -32_043,
      data: {
        httpStatus: 402,
        challenges: [{ intent: 'charge', request: { amount: '100' } }, {}],
        problem: { type: expect.stringContaining('paymentauth.org/problems/') },
      },
    })
    for (const none of ['text', {}, { challenge: {}, payload: {} }])
      expect(await errorOf(agent.call('create_job', order, { [CREDENTIAL]: none }))).toMatchObject({
        code: -32_602,
      })
    expect(await received()).toBe(before)
  })

  it('is refused before it pays where the order is wrong or too dear', async () => {
    const failure = async (order: Readonly<Record<string, unknown>>) => {
      const { content, isError } = await paying.call('create_job', order)
      expect(isError).toBe(true)
      return JSON.parse(String(membersOf(itemsOf(content)[0])['text']))
    }
    const before = await received()
    const dear = await failure(orderOf(fivefold, { max_spend: '0.0630999' }))
    expect(dear).toMatchObject({
      error: { code: 'spend_limit_exceeded' },
      next_action: expect.stringContaining('user'),
    })
    const short = await failure({ ...orderOf(), idempotency_key: 'short' })
    expect(short.error.details).toMatchObject([{ path: ['arguments', 'idempotency_key'] }])
    expect((await failure({ ...orderOf(), plan: { nodes: [] } })).error.code).toBe('plan_invalid')
    const { plan, ...bare } = orderOf()
    expect((await failure({ ...bare, ...plan })).error.details).toMatchObject([
      { path: ['arguments', 'plan'] },
    ])
    expect(await received()).toBe(before)
  })
})

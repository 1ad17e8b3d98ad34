// Goal: the payer's own review counts, by whichever door, and a stranger's is kept until it comes;
// an account proves itself to any process.
// Method: the doors on loopback, on a dev chain; the payer and a stranger are the payment library's
// clients, over HTTP and over the agents' protocol in either revision; an engine runs the jobs.
import { randomUUID } from 'node:crypto'
import { http } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PayerProofs } from '#payments/PayerProofs.ts'
import { lowercased, membersOf } from '#primitives.ts'
import { openSecrets } from '#rows/secrets.ts'
import { refusedPayments } from '../../../payments/support/refused.ts'
import { accountOf, PATH_USD, payer as payerFetch, REALM } from '../../../payments/support/shop.ts'
import { agents } from '../../support/mcpClients.ts'
import { openEngine } from '../support/engine.ts'
import { node, orderOf } from '../support/jobOrder.ts'
import { startJobShop } from '../support/jobShop.ts'
import { type Sale, sold } from '../support/scriptedSellers.ts'

const chainId = 1337
let started: Awaited<ReturnType<typeof startJobShop>>
const ends: (() => unknown)[] = []
const [buyer, stranger] = [accountOf(2), accountOf(3)]

beforeAll(async () => {
  started = await startJobShop((end) => void ends.push(end), 21)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const echo: Sale = { answer: (purchase) => sold(purchase, {}) }
/** A job that the buyer paid for, which earned something. */
async function runJob(): Promise<string> {
  const { app } = started.shop.catalog
  const order = { ...orderOf({ nodes: [node('a')] }, { a: 10_000 }), payer: lowercased(buyer.address) }
  return (await openEngine(app, { '/a': echo }).run(order)).job.id
}
const chain = () => ({ rpcUrl: started.chain.rpcUrl, chainId })
const by = (account: typeof buyer) => payerFetch(account, chain()).fetch
const whole = { rating: 5, tools: [{ nodeId: 'a', rating: 4 }] }

async function give(jobId: string, review: unknown, send: typeof fetch = fetch, headers: object = {}) {
  const answer = await send(`${started.shop.origin}/v1/jobs/${jobId}/feedback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(review),
  })
  return { status: answer.status, headers: answer.headers, ...membersOf(await answer.json()) }
}

const unproved = { status: 201, reward: { status: 'ineligible', reason: 'payer_unproved' } }
const queued = { status: 201, reward: { status: 'queued' } }

describe('over HTTP', () => {
  it('a plain client is asked for nothing, and the payer’s review takes the place of its own', async () => {
    const jobId = await runJob()
    expect(await give(jobId, { ...whole, rating: 1 })).toMatchObject(unproved)
    expect(await give(jobId, whole, by(buyer))).toMatchObject(queued)
    expect(await give(jobId, whole, by(buyer))).toMatchObject({ ...queued, status: 200 })
  })

  it('another account proves that it is another', async () => {
    const jobId = await runJob()
    expect(await give(jobId, whole, by(stranger))).toMatchObject(unproved)
    expect(await give(jobId, whole, by(buyer))).toMatchObject(queued)
  })

  it('a proof is of what was said, and holds once', async () => {
    const jobId = await runJob()
    const asking = { 'accept-payment': 'tempo/charge' }
    const asked = await fetch(`${started.shop.origin}/v1/jobs/${jobId}/feedback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...asking },
      body: JSON.stringify(whole),
    })
    expect(asked.status).toBe(402)
    const authorization = await payerFetch(buyer, chain()).createCredential(asked)
    expect(await give(jobId, { ...whole, rating: 1 }, fetch, { authorization })).toMatchObject({
      status: 402,
    })
    expect(await give(jobId, whole, fetch, { authorization })).toMatchObject(queued)
    expect(await give(await runJob(), whole, fetch, { authorization })).toMatchObject({ status: 402 })
  })

  it('nobody is asked to prove himself for a review that is not taken', async () => {
    const asking = { 'accept-payment': 'tempo/charge' }
    expect(await give(randomUUID(), whole, fetch, asking)).toMatchObject({ status: 404 })
    expect(await give(await runJob(), { rating: 9 }, fetch, asking)).toMatchObject({ status: 400 })
  })
})

describe.each(agents)('an agent of $revision', ({ connect }) => {
  it('has the request that proves its payer, and proves him in _meta', async () => {
    const jobId = await runJob()
    const agent = await connect(started.shop.origin)
    ends.push(agent.close)
    const given = { job_id: jobId, ...whole }
    const told = membersOf((await agent.call('create_job_review', given))['structuredContent'])
    expect(told).toMatchObject({
      ...{ jobId, reward: unproved.reward },
      handoff: { nextAction: 'run_rest_request', maxSpend: '0', rest: { method: 'POST', body: whole } },
    })
    const { url } = membersOf(membersOf(told['handoff'])['rest'])
    expect(url).toBe(`${started.shop.origin}/v1/jobs/${jobId}/feedback`)
    agent.payAs(buyer, chain())
    const proved = membersOf((await agent.call('create_job_review', given))['structuredContent'])
    expect(proved).toMatchObject({ jobId, reward: { status: 'queued' } })
    expect(proved['handoff']).toBeUndefined()
  })

  it('of another account leaves the review unproved', async () => {
    const jobId = await runJob()
    const agent = await connect(started.shop.origin)
    ends.push(agent.close)
    agent.payAs(stranger, chain())
    const told = await agent.call('create_job_review', { job_id: jobId, ...whole })
    expect(membersOf(told['structuredContent'])).toMatchObject({ jobId, reward: unproved.reward })
  })
})

describe('a proof of an account', () => {
  /** A process that follows the keys of the database. */
  const open = async () => {
    const { app } = started.shop.catalog
    const secrets = await openSecrets(app, [])
    const payee = { recipient: lowercased(accountOf(21).address), currency: PATH_USD } as const
    const keys = await secrets.keys('payments')
    const proofs = new PayerProofs({
      ...{ app, realm: REALM, keys, chainId, ...payee },
      ...{ transport: http(chain().rpcUrl), refused: refusedPayments(app) },
    })
    return { secrets, proofs, follow: async () => proofs.use(await secrets.keys('payments')) }
  }
  const supersededSince = (minutes: number) =>
    started.shop.catalog.app
      .updateTable('app.secrets')
      .set({ superseded_at: new Date(Date.now() - minutes * 60_000) })
      .where('name', '=', 'payments')
      .where('superseded_at', 'is not', null)
      .execute()
  const request = { method: 'GET', url: '/jobs', body: undefined }
  const askedBy = async ({ proofs }: Awaited<ReturnType<typeof open>>) => {
    const asked = await proofs.prove({}, request, 'somebody')
    if (asked.kind !== 'challenged') throw new Error('nothing is asked')
    const answer = new Response(null, { status: 402 })
    for (const each of [asked.headers['www-authenticate'] ?? []].flat())
      answer.headers.append('www-authenticate', each)
    return payerFetch(buyer, chain()).createCredential(answer)
  }
  const takenBy = async ({ proofs }: Awaited<ReturnType<typeof open>>, authorization: string) =>
    (await proofs.prove({ authorization }, request, 'somebody')).kind

  it('that another process asked for is taken across a rotation, until the overlap is over', async () => {
    const [here, there] = [await open(), await open()]
    const [first, second] = [await askedBy(here), await askedBy(here)]
    expect(await takenBy(there, first)).toBe('proved')
    // Spent for every process.
    expect(await takenBy(here, first)).toBe('challenged')
    await here.secrets.rotate()
    await supersededSince(2)
    await there.follow()
    expect(await takenBy(there, second)).toBe('proved')
    await here.follow()
    const [third, fourth] = [await askedBy(there), await askedBy(here)]
    expect(await takenBy(here, third)).toBe('proved')
    await here.secrets.rotate()
    await supersededSince(20)
    await there.follow()
    expect(await takenBy(there, fourth)).toBe('challenged')
  })
})

// Goal: whatever stands in the place of a payment, a job is not sold for it, no row is made, and the answer
// is a refusal that the payer's client knows, at each door.
// Method: a credential of the payment library's client, each of its members changed in every way; the doors
// over HTTP, on a dev chain.
import { randomUUID } from 'node:crypto'
import { Credential } from 'mppx'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, membersOf } from '#primitives.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { accountOf, payer } from '../../../payments/support/shop.ts'
import { hashing, startJobShop } from '../support/jobShop.ts'

const ends: (() => unknown)[] = []
let market: Awaited<ReturnType<typeof startJobShop>>
beforeAll(async () => {
  market = await startJobShop((end) => void ends.push(end), 31)
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const headers = { 'content-type': 'application/json', accept: 'application/json' }
const order = {
  idempotencyKey: randomUUID(),
  plan: { nodes: hashing('broken').nodes.map((node) => ({ ...node, dependsOn: [] })) },
}
const request = (body: object, authorization: string) => ({
  method: 'POST',
  // Each caller may be refused so often.
  headers: { ...headers, authorization, 'x-caller': randomUUID() },
  body: JSON.stringify(body),
})
const doors = {
  'POST /v1/jobs': async (authorization: string) => {
    const answer = await fetch(`${market.shop.origin}/v1/jobs`, request(order, authorization))
    return { status: answer.status, told: membersOf(await answer.json()) }
  },
  create_job: async (authorization: string) => {
    const { idempotencyKey: idempotency_key, plan } = order
    const params = { name: 'create_job', arguments: { idempotency_key, plan } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const answer = await fetch(`${market.shop.origin}/mcp`, request(message, authorization))
    const { error, result } = membersOf(await answer.json())
    const { isError, structuredContent } = membersOf(result)
    const named = isError === true ? 'named' : 'sold'
    const status = 'handoff' in membersOf(structuredContent) ? 'handed over' : named
    return { status: membersOf(error)['code'] ?? status, told: membersOf(membersOf(error)['data']) }
  },
} as const
/** The last ones are for a method that is not offered, and for no payment. */
const refusals = {
  'POST /v1/jobs': [402, 400],
  create_job: [-32_043, -32_602, 'named', 'handed over'],
} as const

/** Texts that are no credential at all. */
const none = ['', '!', 'e30', 'bnVsbA', 'W10', 'MQ', 'eyJjaGFsbGVuZ2UiOltdfQ', 'A'.repeat(8_000), 'ü']
const wrongs: readonly unknown[] = [undefined, null, 7, '', 'x'.repeat(2_000), [], {}, { __proto__: null }]

/** Members whose absence or another value changes nothing that is paid. */
const idle = new Set(['source', 'challenge.description'])

/** The credential with each of its members left out, or another in its place. */
function* changed(value: unknown, path: readonly string[] = []): Generator<readonly [string, unknown]> {
  if (!isRecord(value)) return
  for (const [name, member] of Object.entries(value)) {
    const place = [...path, name]
    if (idle.has(place.join('.'))) continue
    for (const wrong of wrongs) yield [place.join('.'), { ...value, [name]: wrong }]
    for (const [deeper, other] of changed(member, place)) yield [deeper, { ...value, [name]: other }]
  }
}

const encoded = (value: unknown) => `Payment ${Buffer.from(JSON.stringify(value)).toString('base64url')}`
const rows = async () => {
  const { app } = market.shop.catalog
  const [jobs, orders] = [app.selectFrom('app.jobs'), app.selectFrom('app.job_orders')]
  return [
    (await listPayments(app, 1_000)).length,
    (await jobs.select('id').execute()).length,
    (await orders.select('job_id').execute()).length,
  ]
}

describe.each(Object.keys(doors) as (keyof typeof doors)[])('%s', (door) => {
  test('refuses what is no credential', async () => {
    for (const text of none) {
      const { status, told } = await doors[door](`Payment ${text}`)
      expect(refusals[door], text).toContain(status)
      if (text !== '' && status !== -32_602)
        expect(JSON.stringify(told), text).toContain('paymentauth.org/problems/')
    }
    expect(await rows()).toEqual([0, 0, 0])
  })

  test('refuses a credential with any member changed', async () => {
    const client = payer(accountOf(1), { rpcUrl: market.chain.rpcUrl, chainId: 1337 })
    const asked = await client.rawFetch(`${market.shop.origin}/v1/jobs`, request(order, ''))
    const [, text = ''] = (await client.createCredential(asked)).split(' ')
    const credential: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    expect(Credential.deserialize(`Payment ${text}`)).toBeTruthy()
    const all = [...changed(credential)]
    expect(all.length).toBeGreaterThan(50)
    const sold: unknown[] = []
    for (const [path, other] of all) {
      const { status } = await doors[door](encoded(other))
      if (!refusals[door].some((refusal) => refusal === status)) sold.push([path, status])
    }
    expect(sold).toEqual([])
    expect(await rows()).toEqual([0, 0, 0])
  })
})

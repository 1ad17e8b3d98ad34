// Goal: no credential, voucher, receipt, signed transaction or key is in a line of the log at any level,
// in an answer to another, or in a row that is not meant to hold it (PAY-12).
// Method: charges and sessions at the level `trace`, over nodes that are up, gone, or that repeat
// in their errors what they were sent; each text and row is searched for each secret.
import { randomBytes } from 'node:crypto'
import { Credential } from 'mppx'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import { isRecord } from '#primitives.ts'
import { createLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { assertKept, startOddNode } from './support/secrecy.ts'
import { openSession, sessionsOf } from './support/sessions.ts'
import { accountOf, keyOf, openShop, payer, type Shop } from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const recipient = `0x${'ab'.repeat(20)}` as const
const { app } = await openAppStore()
const sponsor = new Sponsor({ app, chainId, account: accountOf(7), limit: 10_000_000n })

let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let node: Awaited<ReturnType<typeof startOddNode>>
const lines: string[] = []
const log = createLogger('trace', { write: (line) => lines.push(line) })
let shop: Shop
beforeAll(async () => {
  chain = await startMiningDevChain(chainId)
  node = await startOddNode(chain.rpcUrl)
  const { rpcUrl } = node
  shop = await openShop({
    ...{ app, rpcUrl, chainId, recipient, key, log },
    methods: (charges) => [charges, sessionsOf({ app, rpcUrl, chainId, recipient, sponsor }, key)],
  })
})
afterAll(async () => {
  await shop?.close()
  node?.close()
  chain?.remove()
})
beforeEach(() => {
  node.wire.state = 'up'
  lines.length = 0
})

/** Texts of eight bytes and more in a credential that let whoever reads them spend or pretend. */
function secretsIn(authorization: string): readonly string[] {
  const text = authorization.replace(/^Payment /, '')
  const { payload } = Credential.deserialize<Record<string, unknown>>(authorization)
  const signed = isRecord(payload) ? [payload['signature'], payload['transaction'], payload['proof']] : []
  return [text, ...signed.filter((each) => typeof each === 'string' && each.length > 20).map(String)]
}
const keys = [key.toString('hex'), key.toString('base64'), keyOf(accountOf(7)).slice(2)]

const kept = (secrets: readonly string[], told: readonly string[]) =>
  assertKept(app, [...secrets, ...keys], [...lines, ...told])

const send = async (path: string, authorization: string, init: RequestInit = {}) => {
  const answer = await fetch(`${shop.origin}${path}`, { ...init, headers: { authorization } })
  return { status: answer.status, text: await answer.text(), receipt: answer.headers.get('payment-receipt') }
}
const charge = async (index = 1) => {
  const client = payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
  const refused = await client.rawFetch(`${shop.origin}/read`)
  return client.createCredential(refused)
}

test.each(['up', 'gone', 'loud'] as const)('of a charge, at a node that is %s', async (state) => {
  const credential = await charge()
  node.wire.state = state
  const answers = [
    await send('/other', credential),
    await send('/read', `${credential}AAAA`),
    await send('/read', credential),
    await send('/read', credential),
    await send('/nowhere', credential),
    await send('/read', `${credential}, ${credential}`),
    await send('/order', credential, { method: 'POST' }),
  ]
  node.wire.state = 'up'
  await shop.payments.reconcile()
  const receipts = answers.flatMap(({ receipt }) => receipt ?? [])
  expect(receipts).toHaveLength(state === 'up' ? 1 : 0)
  if (state !== 'up') expect(lines.length).toBeGreaterThan(0)
  await kept(
    secretsIn(credential),
    answers.map(({ text }) => text),
  )
})

test('of a request that asks for a failure of ours', async () => {
  const credential = await charge(2)
  shop.reads.fails = true
  const failed = await send('/read', credential)
  shop.reads.fails = false
  expect(failed.status).toBe(503)
  await kept(secretsIn(credential), [failed.text])
})

test.each(['up', 'gone', 'loud'] as const)('of a session, at a node that is %s', async (state) => {
  const session = openSession(
    { up: 3, gone: 4, loud: 5 }[state],
    { rpcUrl: node.rpcUrl, chainId },
    { bootstrap: true },
  )
  expect((await session.read(`${shop.origin}/read`)).status).toBe(200)
  const voucher = await session.nextVoucher(`${shop.origin}/read`)
  node.wire.state = state
  const answers = [await voucher(`${shop.origin}/other`), await voucher(`${shop.origin}/read`)]
  await session.manager.close().catch(() => {})
  node.wire.state = 'up'
  const told = await Promise.all(answers.map((answer) => answer.text()))
  const sent = session.sent.flatMap(({ headers }) => headers.get('authorization') ?? [])
  expect(sent.length).toBeGreaterThanOrEqual(3)
  await kept(sent.flatMap(secretsIn), told)
})

test.each([
  ['payment-signature', 'not even base64 '.repeat(4)],
  ['authorization', `Payment ${'A'.repeat(64)}`],
  ['authorization', `Payment ${Buffer.from('{"payload":{"signature":"0xdead"}}').toString('base64url')}`],
  ['x-payment', 'Zm9yIHNvbWVib2R5IGVsc2U='.repeat(3)],
])('of what is no payment in %s: %s', async (name, value) => {
  const answer = await fetch(`${shop.origin}/read?key=${'k'.repeat(40)}`, { headers: { [name]: value } })
  const text = await answer.text()
  expect([400, 402]).toContain(answer.status)
  await kept([value.replace(/^Payment /, ''), 'k'.repeat(40)], [text])
})

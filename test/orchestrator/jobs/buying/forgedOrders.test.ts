// Goal: an order in the name of an account that signed nothing uses up no share but the one that all
// such orders have together; an order that is proved, or has settled, uses its payer's own.
// Method: a shop on a dev chain whose budget writes real reservations and says what it was asked.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import { insertReservation, UNPROVED_PAYERS } from '#rows/jobs/reservations.ts'
import { toHex } from '#store/sql.ts'
import type { WalletBudget } from '#wallet/budget.ts'
import { forgedOf } from '../../../payments/support/forged.ts'
import { lower } from '../../../payments/support/secondChain.ts'
import { accountOf, payer } from '../../../payments/support/shop.ts'
import { hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
const parts = [{ serviceId: 'demo-hashes', payee: null, units: 1n }]
/** In whose name was reserved, in their order. */
const asked: { readonly jobId: string; readonly sender: string | null }[] = []
const budget: WalletBudget = {
  payable: () => Promise.reject(new Error('quotes are those of the shop')),
  obstacles: () => Promise.resolve([]),
  reserve: async (transaction, { jobId, paymentId, payer: sender }) => {
    asked.push({ jobId, sender })
    await insertReservation(transaction, { jobId, paymentId, payer: sender, parts }, '2026-01-01')
    return null
  },
}

let shop: Awaited<ReturnType<typeof startJobShop>>
let origin: string
const ends: (() => unknown)[] = []
beforeAll(async () => {
  shop = await startJobShop((end) => void ends.push(end), 19)
  ;({ origin } = await shop.shop.serve({ budget }))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

async function order(words: string, forge = async (credential: string) => credential) {
  const body = JSON.stringify({ idempotencyKey: randomUUID(), plan: hashing(words) })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const client = payer(accountOf(1), { rpcUrl: shop.chain.rpcUrl, chainId })
  const credential = await client.createCredential(await client.rawFetch(`${origin}/v1/jobs`, request))
  const headers = { ...request.headers, authorization: await forge(credential) }
  return fetch(`${origin}/v1/jobs`, { ...request, headers })
}

/** In whose name it is reserved now. */
async function reservedBy(jobId: string): Promise<string> {
  const { payer: sender } = await shop.shop.catalog.app
    .selectFrom('app.job_reservations')
    .select('payer')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow()
  return toHex(sender)
}

const own = lower(accountOf(1).address)

test('an order that proves its payer is reserved of his share', async () => {
  expect((await order('own')).status).toBe(200)
  const [first] = asked
  expect(first?.sender).toBe(own)
  expect(await reservedBy(first?.jobId ?? '')).toBe(own)
})

test('one that only names an account is reserved of the share of all such orders', async () => {
  await order('forged', (credential) => forgedOf(credential, accountOf(4).address))
  const [, second] = asked
  expect(second?.sender).toBeNull()
  expect(await reservedBy(second?.jobId ?? '')).toBe(UNPROVED_PAYERS)
})

test('and of its payer’s own from its settlement on', async () => {
  const unproving = (charges: TempoChargeMethod) =>
    new Proxy(charges, {
      get(target, name) {
        if (name === 'provesPayer') return () => false
        const member = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  ;({ origin } = await shop.shop.serve({ budget, methods: (charges) => [unproving(charges)] }))
  expect((await order('settled')).status).toBe(200)
  const [, , third] = asked
  expect(third?.sender).toBeNull()
  expect(await reservedBy(third?.jobId ?? '')).toBe(own)
})

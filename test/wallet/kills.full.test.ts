// Goal: a `kill -9` at any step of a purchase pays nothing twice and forgets no payment (PAY-04).
// Method: a process for each try, killed at a failpoint; then others go on until it is concluded.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { address } from '#primitives.ts'
import { findSpend, readSpendsOf } from '#rows/jobs/spends.ts'
import { adoptHistory } from '#rows/jobs/wallet.ts'
import { accountOf, balanceOf, keyOf, PATH_USD } from '../payments/support/shop.ts'
import { openAppStore } from '../support/appStore.ts'
import { clock, startMiningDevChain } from '../support/devchain.ts'
import type { BuyOnce } from './support/buyOnce.ts'
import { openPaidSeller, type PaidSeller } from './support/paidSeller.ts'
import { purchaseOf } from './support/wallet.ts'

const { app, databaseUrl } = await openAppStore()
await adoptHistory(app, 0)
const payee = address(accountOf(60).address)
const sealingKey = randomBytes(32).toString('hex')
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let seller: PaidSeller
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  chain = await startMiningDevChain(1337)
  seller = await openPaidSeller(chain, payee, (end) => ends.push(end))
})
afterAll(async () => {
  for (const end of ends) await end()
  await chain?.remove()
})

const run = promisify(execFile)

/** A process's result; null if it was killed. */
async function buyIn(purchase: ReturnType<typeof purchaseOf>, failpoint = ''): Promise<string | null> {
  const given: BuyOnce = {
    ...{ databaseUrl, rpcUrl: chain.rpcUrl, chainId: chain.chainId, key: keyOf(accountOf(1)), sealingKey },
    purchase: { ...purchase, unitsMax: `${purchase.unitsMax}` },
  }
  const script = join(import.meta.dirname, './support/buyOnce.ts')
  try {
    const { stdout } = await run(process.execPath, [script, JSON.stringify(given)], {
      env: { ...process.env, FAILPOINT: failpoint },
    })
    return stdout.trim()
  } catch (error) {
    expect(error).toMatchObject({ signal: 'SIGKILL' })
    return null
  }
}

test.each([
  ['spend.reserved', 'answered'],
  ['spend.kept', 'answered'],
  ['spend.sending', 'answered'],
  // The answer had left the seller, which gives it once: paid for, and told so.
  ['spend.sent', 'paid_not_delivered'],
  ['spend.answered', 'answered'],
  ['spend.looked', 'answered'],
])('killed at %s it was paid once, and comes to %s', async (failpoint, outcome) => {
  seller.sell('/', {}, async (response, take) => {
    response.writeHead((await take()) ? 200 : 402).end('done')
  })
  const before = await balanceOf(chain.rpcUrl, PATH_USD, payee)
  const purchase = purchaseOf(`${seller.origin}/`)
  expect(await buyIn(purchase, failpoint)).toBeNull()
  const told: (string | null)[] = []
  for (let tries = 0; tries < 6 && told.at(-1) !== outcome; tries++) {
    if (told.length > 0) await clock.sleep(1_000)
    told.push(await buyIn(purchase))
  }
  expect(told.at(-1)).toBe(outcome)
  expect(told.slice(0, -1).every((kind) => kind === 'unknown')).toBe(true)
  expect(await balanceOf(chain.rpcUrl, PATH_USD, payee)).toBe(before + 10_000n)
  expect(await readSpendsOf(app, purchase.jobId)).toHaveLength(1)
  expect(await findSpend(app, purchase)).toMatchObject({ state: 'settled', amount: 10_000n })
})

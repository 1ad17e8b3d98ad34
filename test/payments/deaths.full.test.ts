// Goal: whatever process dies at whatever moment, and whatever answers are lost, a payment has its
// answer or is known to have failed, and none settles twice (PAY-04, 05); so do payouts.
// Method: a server that does nothing more from the nth statement or request on, for every n of a
// paid read and of a payout; another one goes on. A node that loses what is sent to it, or its answer.
import { randomBytes } from 'node:crypto'
import { custom, http, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { askOf } from '#money/node.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { queuePayout } from '#rows/payments/debts.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import { isLong } from '../support/breadth.ts'
import { startMiningDevChain } from '../support/devchain.ts'
import { dueNow } from './support/dueNow.ts'
import { Mortal } from './support/Mortal.ts'
import {
  accountOf,
  balanceOf,
  chargesOf,
  keyOf,
  openShop,
  PATH_USD,
  PRICE,
  payer,
  type Shop,
  type ShopOptions,
} from './support/shop.ts'

const chainId = 1337
const key = randomBytes(32)
const { app, postgres } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let rpc: DevRpc
/** One for each test, for what follows a jump of its clock is not paid by payers of ours. */
beforeEach(async () => {
  chain = await startMiningDevChain(chainId)
  rpc = new DevRpc(chain.rpcUrl)
})
afterEach(() => chain?.remove())
/** Ends the time in which signed transactions can be mined, and a final block says so. */
const outliveSigned = () => rpc.call('anvil_mine', '0x80', '0x1')

const lower = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`
const rounds = isLong ? 20 : 1
/** A dead process's holds are another's at once. */
const endHolds = () => dueNow(app)
const statesOf = async (recipient: string) => {
  const bytes = Buffer.from(recipient.slice(2), 'hex')
  const found = await app
    .selectFrom('app.payments')
    .select(['state', 'answered_at'])
    .where('recipient', '=', bytes)
    .execute()
  return found
}

interface Stand {
  readonly recipient: `0x${string}`
  readonly healthy: Shop
  open(app: AppDatabase, transport: Transport): Promise<Shop>
  credential(index?: number): Promise<string>
  received(): Promise<bigint>
}

async function openStand(index: number): Promise<Stand> {
  const recipient = lower(accountOf(index).address)
  const options: Omit<ShopOptions, 'app'> = { rpcUrl: chain.rpcUrl, chainId, recipient, key }
  const healthy = await openShop({ ...options, app })
  return {
    ...{ recipient, healthy },
    open: (mortal, transport) =>
      openShop({ ...options, app: mortal, methods: () => [chargesOf(options, key, transport)] }),
    async credential(index = 1) {
      const client = payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
      return client.createCredential(await client.rawFetch(`${healthy.origin}/read`))
    },
    received: () => balanceOf(chain.rpcUrl, PATH_USD, recipient),
  }
}

const send = async ({ origin }: Shop, authorization: string) => {
  const answer = await fetch(`${origin}/read`, { headers: { authorization } })
  await answer.text()
  return answer
}

/** One paid read whose server dies at a step; the statuses that its payer saw, and whether it lived. */
async function readAmid(stand: Stand, diesAt: number) {
  const life = new Mortal(diesAt)
  const shop = await stand.open(life.app(postgres.pool), life.transport(chain.rpcUrl))
  const credential = await stand.credential()
  const first = await send(shop, credential)
  // The end of the answer is kept after it has left.
  await shop.close()
  await endHolds()
  return { credential, first: first.status, hasLived: !life.isDead }
}

describe('a server that dies in a paid read', () => {
  test.each(Array.from({ length: rounds }, (_, round) => round))(
    'at any statement or request: paid once and answered, or not paid at all (%i)',
    async (round) => {
      const stand = await openStand(300 + round)
      const undecided: string[] = []
      let [places, paid] = [0, 0n]
      for (let hasLived = false; !hasLived; places++) {
        const death = await readAmid(stand, places + 1)
        hasLived = death.hasLived
        const again = await send(stand.healthy, death.credential)
        expect([200, 403, 503], `at step ${places + 1}`).toContain(again.status)
        expect(again.headers.has('www-authenticate')).toBe(false)
        // Spent before only where the answer had left.
        if (again.status === 403) expect(death.first, `at step ${places + 1}`).toBe(200)
        if (again.status === 503) undecided.push(death.credential)
        else paid += PRICE
        await expect.poll(() => stand.received(), { message: `at step ${places + 1}` }).toBe(paid)
      }
      expect(places).toBeGreaterThanOrEqual(10)
      await decide(stand, undecided)
      expect(await stand.received()).toBe(paid)
      const states = await statesOf(stand.recipient)
      expect(states.filter(({ state }) => state === 'settled')).toHaveLength(Number(paid / PRICE))
      for (const { state, answered_at: at } of states) expect(state === 'settled').toBe(at !== null)
      expect(await findUnbalanced(app)).toEqual([])
      await stand.healthy.close()
    },
  )
})

/** A credential that nobody sent is known to have failed once it can be mined no more. */
async function decide({ healthy }: Stand, credentials: readonly string[]): Promise<void> {
  await outliveSigned()
  for (const credential of credentials)
    await expect
      .poll(async () => {
        await endHolds()
        const answer = await send(healthy, credential)
        return answer.status
      })
      .toBe(402)
}

describe('a process that dies in a payout', () => {
  test('at any statement or request: paid once', async () => {
    const account = privateKeyToAccount(keyOf(accountOf(4)))
    const open = (own: AppDatabase, transport: Transport) =>
      new Payouts({
        ...{ app: own, budgetOf: () => 10n ** 9n, mayPay: () => true },
        ...{ runtime: systemRuntime(), log: silentLogger },
        chain: new PayoutChain({
          ...{ chainId, account, nodes: [askOf(transport)], feeTokens: [PATH_USD] },
          clock: systemRuntime().clock,
        }),
      })
    const turn = (payouts: Payouts) => payouts.turn().catch(() => {})
    /** The next turn has the steps of the next debt alone. */
    const holdPayouts = () =>
      app
        .updateTable('app.payouts')
        .set({ held_until: new Date('2100-01-01') })
        .execute()
    const endHold = (reference: string) =>
      app
        .updateTable('app.payouts')
        .set({ held_until: new Date(0) })
        .where('reference', '=', reference)
        .execute()
    const to = lower(accountOf(5_000).address)
    let debts = 0
    for (let hasLived = false; !hasLived; ) {
      await holdPayouts()
      const terms = { kind: 'reward', chainId, currency: PATH_USD, amount: 7n, to } as const
      const reference = `debt ${debts++}`
      await app.transaction().execute((own) => queuePayout(own, { ...terms, reference }, Date.now()))
      const life = new Mortal(debts)
      await turn(open(life.app(postgres.pool), life.transport(chain.rpcUrl)))
      for (let mined = 0; mined < 5; mined++) await rpc.call('evm_mine')
      await endHold(reference)
      await turn(open(life.app(postgres.pool), life.transport(chain.rpcUrl)))
      hasLived = !life.isDead
    }
    expect(debts).toBeGreaterThan(20)
    await outliveSigned()
    const healthy = open(app, http(chain.rpcUrl))
    for (let debt = 0; debt < debts; debt++)
      await expect
        .poll(async () => {
          await endHolds()
          await turn(healthy)
          return (await findPayout(app, 'reward', `debt ${debt}`))?.state
        })
        .toBe('paid')
    expect(await balanceOf(chain.rpcUrl, PATH_USD, to)).toBe(7n * BigInt(debts))
    expect(await findUnbalanced(app)).toEqual([])
  })
})

describe('a node that loses things', () => {
  const SENDS = new Set(['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])

  /** One half of what is sent does not arrive, and no answer to the other one does. */
  const losing = (): Transport => {
    const { request } = http(chain.rpcUrl)({ retryCount: 0 })
    const asking: (asked: { method: string; params?: unknown }) => Promise<unknown> = request
    let sent = 0
    const lose = async (asked: { method: string; params?: unknown }) => {
      if (!SENDS.has(asked.method)) return asking(asked)
      if (sent++ % 2 === 0) await asking(asked)
      throw new Error('the connection was cut')
    }
    return custom({ request: lose }, { retryCount: 0 })
  }

  test('costs nobody a second payment: no new challenge, and each outcome becomes known (PAY-05)', async () => {
    const stand = await openStand(400)
    const shop = await stand.open(app, losing())
    const count = isLong ? 1_000 : 60
    const credentials: string[] = []
    for (let made = 0; made < count; made++) {
      const credential = await stand.credential(1 + (made % 8))
      credentials.push(credential)
      const answer = await send(shop, credential)
      expect([200, 503]).toContain(answer.status)
      expect(answer.headers.has('www-authenticate')).toBe(false)
    }
    const arrived = PRICE * BigInt(Math.ceil(count / 2))
    await expect.poll(() => stand.received()).toBe(arrived)
    await outliveSigned()
    await expect
      .poll(async () => {
        await endHolds()
        await stand.healthy.payments.reconcile()
        return (await statesOf(stand.recipient)).filter(({ state }) => state === 'sending').length
      })
      .toBe(0)
    const states = (await statesOf(stand.recipient)).map(({ state }) => state)
    expect(states.filter((state) => state === 'settled')).toHaveLength(Math.ceil(count / 2))
    expect(states.filter((state) => state === 'failed')).toHaveLength(Math.floor(count / 2))
    expect(await stand.received()).toBe(arrived)
    await shop.close()
    await stand.healthy.close()
  })
})

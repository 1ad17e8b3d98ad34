// Goal: whatever process dies at whatever moment of an x402 payment, it has its answer or is known to
// have failed, and none settles twice (PAY-04, 05).
// Method: a server that does nothing more from the nth statement or request on, for every n of a paid
// read; another one goes on.
import { http, type Transport } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sends } from '#payments/methods/Sends.ts'
import { LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { pendingSettlements } from '#payments/methods/x402/pendingSettlements.ts'
import { TokenChain } from '#payments/methods/x402/TokenChain.ts'
import { X402ExactMethod } from '#payments/methods/x402/X402ExactMethod.ts'
import { X402Offer } from '#payments/methods/x402/X402Offer.ts'
import type { AppDatabase } from '#rows/database.ts'
import { feesLeft, inTurnOf } from '#rows/payments/fees.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openAppStore } from '../support/appStore.ts'
import { dueNow } from './support/dueNow.ts'
import { Mortal } from './support/Mortal.ts'
import {
  DOLLAR,
  lower,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
  x402Payer,
} from './support/secondChain.ts'
import { accountOf, openShop, PRICE, type Shop } from './support/shop.ts'

const { app, postgres } = await openAppStore()
const { clock } = systemRuntime()
const recipient = lower(accountOf(80).address)
let chain: SecondChain
let key: `0x${string}`
let healthy: Shop
beforeAll(async () => {
  chain = await startSecondChain()
  key = await chain.feePayer()
  healthy = await open(app, http(chain.rpcUrl))
})
afterAll(async () => {
  await healthy?.close()
  await chain?.stop()
})

async function open(own: AppDatabase, transport: Transport): Promise<Shop> {
  const account = { chainId: SECOND_CHAIN, address: lower(privateKeyToAddress(key)), perDay: 10n ** 17n }
  const pending = pendingSettlements(own)
  const facilitator = new LocalFacilitator({
    ...{ chainId: SECOND_CHAIN, key, transport, pending },
    // One that is dead waits for a block as long as one that lives.
    confirmationMs: 1_000,
    fees: { inTurn: (work) => inTurnOf(own, account, work), left: () => feesLeft(own, account) },
  })
  const tokens = new TokenChain({ chainId: SECOND_CHAIN, asset: DOLLAR, transport })
  // A process that lives asks the chain for the offer.
  const asked = new TokenChain({ chainId: SECOND_CHAIN, asset: DOLLAR, transport: http(chain.rpcUrl) })
  const offer = new X402Offer({
    ...{ chainId: SECOND_CHAIN, recipient, chain: asked, facilitator: { ...healthyFees } },
    ...{ sends: new Sends(clock), clock },
  })
  await offer.check()
  const x402 = new X402ExactMethod({
    ...{ origin: 'https://shop.example', chainId: SECOND_CHAIN, asset: DOLLAR, recipient, clock },
    ...{ token: offer.token, known: offer.known, chain: tokens, facilitator, pending },
  })
  const { rpcUrl } = chain
  return openShop({ ...{ app: own, rpcUrl, chainId: SECOND_CHAIN, recipient }, methods: () => [x402] })
}
/** All that an offer asks of a facilitator. */
const healthyFees = {
  problem: async () => null,
  verify: async () => null,
  settle: async () => 'unsent' as const,
}

const send = async ({ origin }: Shop, credential: string) => {
  const answer = await fetch(`${origin}/read`, { headers: { 'payment-signature': credential } })
  await answer.text()
  return answer.status
}
/** A dead process's holds are another's at once. */
const endHolds = () => dueNow(app)

test('at any statement or request: paid once and answered, or not paid at all', async () => {
  const payer = x402Payer(await chain.payer())
  const undecided: string[] = []
  let [places, paid, hasLived] = [0, 0n, false]
  while (!hasLived) {
    places++
    const credential = await payer.credentialFor(`${healthy.origin}/read`)
    const life = new Mortal(places)
    const shop = await open(life.app(postgres.pool), life.transport(chain.rpcUrl))
    const first = await send(shop, credential)
    await shop.close()
    await endHolds()
    hasLived = !life.isDead
    const again = await send(healthy, credential)
    expect([200, 403, 503], `at step ${places}`).toContain(again)
    // Spent before only where the answer had left.
    if (again === 403) expect(first, `at step ${places}`).toBe(200)
    if (again === 503) undecided.push(credential)
    else paid += PRICE
    await expect.poll(() => chain.balanceOf(recipient), { message: `at step ${places}` }).toBe(paid)
  }
  expect(places).toBeGreaterThanOrEqual(10)
  // A credential that nobody sent can be used no more once its time is over in a final block.
  await chain.rpc.call('anvil_mine', '0x100', '0xa')
  for (const credential of undecided)
    await expect
      .poll(async () => {
        await endHolds()
        return send(healthy, credential)
      })
      .toBe(402)
  expect(await chain.balanceOf(recipient)).toBe(paid)
  const settled = (await listPayments(app, 1_000)).filter(({ state }) => state === 'settled')
  expect(settled).toHaveLength(Number(paid / PRICE))
  expect(settled.every(({ isAnswered }) => isAnswered)).toBe(true)
  expect(await findUnbalanced(app)).toEqual([])
})

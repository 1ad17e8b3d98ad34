// Goal: whatever a stranger pays by, the way is the same: search, quote, payment, result, review, reward.
// Method: a program that sells by all that it can be paid by, on two chains, to the clients of the
// protocols as they are; the chains and the indexes of both tell what was moved.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Challenge } from 'mppx'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { itemsOf, membersOf } from '#primitives.ts'
import { demoPlan } from '../../orchestrator/jobs/support/demoPlan.ts'
import {
  DOLLAR,
  SECOND_CHAIN,
  type SecondChain,
  startSecondChain,
} from '../../payments/support/secondChain.ts'
import { ALPHA_USD, PATH_USD } from '../../payments/support/shop.ts'
import { type Buyer, buyers } from '../support/buyers.ts'
import { fromAnywhere } from '../support/doors.ts'
import { type Market, openMarket } from '../support/market.ts'
import { blockIndexed, freshDataDir, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const ends: (() => unknown)[] = []
let second: SecondChain
let market: Market
let program: RunningMillrace
/** It indexes the chain of x402, and sells nothing. */
let beside: RunningMillrace
beforeAll(async () => {
  second = await startSecondChain()
  ends.push(second.stop)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-fees-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const keyFile = join(folder, 'fees.key')
  writeFileSync(keyFile, await second.feePayer(), { mode: 0o600 })
  const x402 = { chainId: SECOND_CHAIN, rpcUrl: second.rpcUrl, asset: DOLLAR, keyFile }
  market = await openMarket((end) => void ends.push(end), { currencies: [PATH_USD, ALPHA_USD], x402 })
  // Its refunds and rewards go back where it was paid.
  await second.mint(market.payee, 10_000_000n)
  // Each reward pays for its own transfer, on the dearer chain, too.
  program = await market.start({ COST_MULTIPLIER: '5' })
  await blockIndexed(program, 1)
  await market.fundService()
  const dataDir = freshDataDir(SECOND_CHAIN)
  ends.push(dataDir.remove)
  const open = { RPC_URL: second.rpcUrl, VERIFY: 'links', ACCESS: 'open' }
  beside = await startMillrace({ DATA_DIR: dataDir.path, ...open })
  ends.push(beside.stop)
  // Payers pay their own fees until the sponsor's money is seen.
  while (!(await isSponsored()));
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Whether the fees of charges are paid for their payers. */
async function isSponsored(): Promise<boolean> {
  const asked = await fromAnywhere(`${program.origin}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ idempotencyKey: randomUUID(), plan: demoPlan }),
  })
  const offers = Challenge.fromResponseList(asked).filter(({ intent }) => intent === 'charge')
  return offers.some(({ request }) => membersOf(request['methodDetails'])['feePayer'] === true)
}

const unitsOf = (dollars: unknown): bigint => BigInt(Math.round(Number(dollars) * 1e6))

/**
 * Blocks of the second chain come when somebody asks for them; few at once, or its clock runs out what
 * is signed before it is sent.
 */
const mine = ({ chainId }: Buyer) =>
  chainId === SECOND_CHAIN ? second.rpc.call('anvil_mine', '0x4', '0x1') : undefined
/** Between two looks. */
const mining = { interval: 500 }

/** Found, bought, and read once it is ready. */
async function buyJob({ door, paymentMethod }: Buyer) {
  expect(await door.find('how long is the day')).toBe('demo-sun')
  const price = unitsOf(await door.quote(demoPlan))
  const jobId = await door.buy(demoPlan)
  await expect.poll(async () => (await door.job(jobId))['ready']).toBe(true)
  const job = await door.job(jobId)
  expect(job).toMatchObject({ status: 'partially_succeeded', usage: { paymentMethod } })
  expect(Object.keys(membersOf(job['result']))).toEqual(
    expect.arrayContaining(['paris', 'report', 'summary']),
  )
  const committed = unitsOf(membersOf(job['usage'])['committed'])
  expect(committed).toBeLessThan(price)
  return { jobId, runs: job['runs'], committed }
}

/** Rewards are told with why they wait. */
const WAITING = `
  SELECT kind, state, attempt, problem, fee_part, sent_with, collect_until, held_until
  FROM app.payouts WHERE state NOT IN ('paid', 'withdrawn')`

/** Reviewed by who paid, and rewarded. */
async function review(buyer: Buyer, jobId: string, runs: unknown) {
  const called = itemsOf(runs).map(membersOf)
  const tools = called
    .filter(({ attempts }) => itemsOf(attempts).length > 0)
    .map(({ nodeId }) => ({ nodeId, rating: 4 }))
  const { door } = buyer
  expect(await door.review(jobId, { rating: 4, tools })).toMatchObject({ status: 'queued' })
  await expect
    .poll(async () => {
      await mine(buyer)
      return { ...(await door.rewardOf(jobId)), waiting: await market.rows(WAITING) }
    }, mining)
    .toMatchObject({ status: 'paid' })
  return door.rewardOf(jobId)
}

/** Transfers to an account, as the index of its chain tells them. */
async function transfersTo({ address, chainId }: Buyer): Promise<unknown> {
  const { origin } = chainId === SECOND_CHAIN ? beside : program
  const asked = new URLSearchParams({ recipient: address.toLowerCase(), chainId: `${chainId}`, limit: '50' })
  const answer = await fromAnywhere(`${origin}/v1/transfers?${asked}`)
  if (!answer.ok) throw new Error(await answer.text())
  return JSON.parse(await answer.text()).data
}

test.each(buyers)('from a question to a reward by $way', async ({ open }) => {
  const buyer = await open({ origin: program.origin, market, second })
  const { jobId, runs, committed } = await buyJob(buyer)
  const { amount, transactionHash } = await review(buyer, jobId, runs)
  await buyer.leave()
  // The rest of its price is back, by a transfer of its own or with the reward; and it paid no fee.
  await expect
    .poll(async () => {
      await mine(buyer)
      return buyer.spent()
    }, mining)
    .toBe(committed + buyer.beside - unitsOf(amount))
  await expect.poll(() => transfersTo(buyer)).toContainEqual(expect.objectContaining({ transactionHash }))
})

test('the books of all of them are right', async () => {
  // All that was sent is final.
  await second.rpc.call('anvil_mine', '0x80', '0x1')
  await expect
    .poll(() => market.ask('books', 'check'), { interval: 500 })
    .toMatchObject({ code: 0, told: { isRight: true, open: 0, payments: { open: 0 } } })
})

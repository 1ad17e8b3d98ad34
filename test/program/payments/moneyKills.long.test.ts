// Goal: two programs on one database, programs that are killed at random, and a chain that takes payments
// back leave books that are right: nothing is paid twice, nothing is owed and forgotten.
// Method: programs as an operator runs them, payers with the payment library's client, and three
// witnesses beside `books check`: the answers that payers got, the rows, and all transfers of the chain.
// KILLS=20 is a part, and SEED draws other moments.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DevRpc, field, hexQuantity } from '#local/devchain/DevRpc.ts'
import { Dice } from '#local/devchain/traffic/Dice.ts'
import { scaledOf } from '#money/amounts.ts'
import { feeManager } from '#money/outflows.ts'
import type { Plan } from '#orchestrator/plan/plan.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import { demoPlan } from '../../orchestrator/jobs/support/demoPlan.ts'
import { balanceOf, PATH_USD, PRICE } from '../../payments/support/shop.ts'
import { reorg } from '../../support/devchain.ts'
import { seedOf } from '../../support/seed.ts'
import {
  isDecided,
  isPaid,
  jobIdsIn,
  MarketPayer,
  readJob,
  readReview,
  type Signed,
} from '../support/MarketPayer.ts'
import { FUNDED, type Market, openMarket } from '../support/market.ts'
import { blockIndexed, type RunningMillrace, until } from '../support/millrace.ts'

const KILLS = Number(process.env['KILLS'] ?? 200)
const ends: (() => unknown)[] = []
let market: Market
let program: RunningMillrace
beforeAll(async () => {
  market = await openMarket((end) => void ends.push(end))
  program = await market.start()
  await blockIndexed(program, 1)
  await market.fundService()
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

async function newPayers(count: number): Promise<readonly MarketPayer[]> {
  const rpcUrl = await market.rpcUrl()
  const payers = Array.from({ length: count }, () => new MarketPayer(rpcUrl))
  for (const { account } of payers) await market.fund(account.address)
  return payers
}

/** Two calls of a seller and one that it fails, none of which costs much. */
const echoes = (message: number): Plan => ({
  nodes: [
    { id: 'first', input: { message }, dependsOn: [] },
    { id: 'failed', input: { fail: true }, dependsOn: [] },
    { id: 'second', input: { message: 'flow://first/output' }, dependsOn: ['first'] },
  ].map((node) => ({ serviceId: 'demo-moody', method: 'POST', path: '/echo', ...node })),
})

/**
 * No row waits for anything but a reward that costs more to send than it brings, every block of the money
 * is final, and all proofs are clean.
 */
async function booksAreRight(): Promise<void> {
  const waiting = `
    SELECT 'payment' AS what, id, state FROM app.payments WHERE state IN ('claimed', 'sending')
    UNION ALL SELECT 'spend', id, state FROM app.spends WHERE state IN ('reserved', 'sending')
    UNION ALL SELECT 'payout', id, state FROM app.payouts
      WHERE state = 'sending' OR state = 'queued' AND kind = 'refund'
    UNION ALL SELECT 'job', id::text, state FROM app.jobs WHERE ended_at IS NULL
    UNION ALL SELECT 'order', o.job_id::text, state
      FROM app.job_orders o JOIN app.payments ON payment_id = id WHERE state <> 'failed'
    UNION ALL SELECT 'reservation', r.job_id::text, state
      FROM app.job_reservations r JOIN app.payments ON payment_id = id WHERE state <> 'failed'`
  await expect.poll(() => market.rows(waiting), { timeout: WAIT_MS, interval: 500 }).toEqual([])
  await expect
    .poll(() => market.ask('books', 'check'), { timeout: WAIT_MS, interval: 500 })
    .toMatchObject({ told: { open: 0, payments: { open: 0 } } })
  expect(await market.ask('books', 'check')).toMatchObject({
    code: 0,
    told: {
      ...{ isRight: true, differences: [], rows: [], unbalanced: [], unbooked: [], missent: [] },
      ...{ paidUnknown: [], left: [], unchecked: [] },
    },
  })
  expect((await market.ask('payments', 'refunds')).told.owed).toEqual([])
}
/** A transaction that was signed may be sent for a minute, and is known to have failed some time after. */
const WAIT_MS = 600_000

/** The chain's account of payers' payments and receipts, and their fees. */
async function moneyOf({ account, address }: MarketPayer) {
  const out = await market.transfers({ from: [address] })
  const back = (await market.transfers({ to: [address] })).filter(({ from }) => from === market.payee)
  const sumTo = (receiver: string) => sumOf(out.filter(({ to }) => to === receiver))
  return {
    ...{ balance: await balanceOf(await market.rpcUrl(), PATH_USD, account.address), back: sumOf(back) },
    ...{ paid: sumTo(market.payee), fees: sumTo(feeManager) },
  }
}

const sumOf = (moved: readonly { readonly amount: bigint }[]): bigint =>
  moved.reduce((sum, { amount }) => sum + amount, 0n)

/** The balance of a payer's account by the books. */
async function bookedOf({ address }: MarketPayer): Promise<bigint> {
  const [sum] = await market.rows(
    `SELECT coalesce(sum(amount), 0) AS amount FROM app.ledger_entries WHERE account = 'payer:${address}'`,
  )
  return BigInt(sum.amount)
}

test('100 credentials, some sent to two programs at once, are each paid and answered once', async () => {
  const second = await market.startSecond()
  await blockIndexed(second, 1)
  const origins = [program.origin, second.origin] as const
  const ways = [[origins[0]], [origins[1]], origins, [...origins, ...origins]]
  const payers = await newPayers(10)
  const before = (await market.transfers({ to: [market.payee] })).length
  /** Until one is paid for: what came too late is signed anew. */
  const buy = async (payer: MarketPayer, at: number): Promise<Signed> => {
    const way = ways[at % ways.length] ?? []
    for (;;) {
      const signed = await payer.read(origins[at % 2] ?? '', `/v1/transfers?limit=${5 + (at % 5)}`)
      if (!signed) throw new Error('a program has ended')
      await Promise.all(way.map((origin) => payer.send(origin, signed)))
      for (const origin of origins) while ((await payer.send(origin, signed))?.status === 503);
      if (isPaid(signed)) return signed
    }
  }
  const buying = payers.flatMap((payer, at) => Array.from({ length: 10 }, (_, of) => buy(payer, at + of)))
  const bought = new Set(await Promise.all(buying))
  expect(bought.size).toBe(100)
  for (const signed of payers.flatMap((payer) => payer.signed)) {
    const answers = signed.answers.map(({ status }) => status).filter((status) => status !== 503)
    const [first, ...others] = bought.has(signed) ? [200, 403] : [402, 402]
    expect(answers.toSorted()).toEqual([first, ...answers.slice(1).map(() => others[0])])
  }
  const received = (await market.transfers({ to: [market.payee] })).slice(before)
  expect(received.map(({ amount }) => amount)).toEqual(Array(100).fill(PRICE))
  for (const payer of payers) {
    const { balance, fees } = await moneyOf(payer)
    expect(balance).toBe(FUNDED - 10n * PRICE - fees)
  }
  await booksAreRight()
  expect((await second.stop()).code).toBe(0)
  // It has no sellers, and took those of the other out of the catalog: a start brings them back.
  expect((await program.stop()).code).toBe(0)
  program = await market.start()
})

/** Sends it once, and again until it is known what became of it. */
async function decide(payer: MarketPayer, signed: Signed): Promise<void> {
  await until(async () => {
    await payer.send(program.origin, signed)
    return isDecided(signed)
  })
}

/**
 * Pays, and has the chain replace the payment's block, and all above, by empty ones. The program stands
 * still meanwhile, which alone makes blocks. A payment that is final by then stays, and another is made.
 */
async function takenBack(payer: MarketPayer, sign: () => Promise<Signed | null>): Promise<Signed> {
  const rpcUrl = await market.rpcUrl()
  const rpc = new DevRpc(rpcUrl)
  const height = async (tag: string) =>
    Number(field(await rpc.call('eth_getBlockByNumber', tag, false), 'number'))
  for (;;) {
    const signed = await sign()
    if (!signed) throw new Error('the program has ended')
    await decide(payer, signed)
    if (!isPaid(signed)) continue
    process.kill(program.pid, 'SIGSTOP')
    try {
      const paid = (await market.transfers({ from: [payer.address] })).findLast(
        ({ to }) => to === market.payee,
      )
      if (!paid) throw new Error('the chain has no payment')
      const receipt = await rpc.call('eth_getTransactionReceipt', paid.txHash)
      const [block, head] = [Number(field(receipt, 'blockNumber')), await height('latest')]
      if (block <= (await height('finalized'))) continue
      await reorg(rpcUrl, head - block + 1)
      expect(await rpc.call('eth_getTransactionReceipt', paid.txHash)).toBeNull()
      expect(await rpc.call('eth_getBlockByNumber', hexQuantity(head), false)).not.toBeNull()
      return signed
    } finally {
      process.kill(program.pid, 'SIGCONT')
    }
  }
}

test('what the chain takes back of a read and of a job leaves the books', async () => {
  const [reader, buyer] = await newPayers(2)
  if (!reader || !buyer) throw new Error('no payers')
  const { origin } = program
  await takenBack(reader, () => reader.read(origin))
  await takenBack(buyer, () => buyer.order(origin, echoes(1)))
  const reversed = async (payer: MarketPayer) => {
    const { told } = await market.ask('payments', 'list')
    return itemsOf(told)
      .map(membersOf)
      .filter((one) => one['payer'] === payer.address && one['state'] === 'reversed').length
  }
  for (const payer of [reader, buyer])
    await expect.poll(() => reversed(payer), { timeout: WAIT_MS, interval: 500 }).toBe(1)
  await booksAreRight()
  for (const payer of [reader, buyer]) {
    const { balance, paid, fees, back } = await moneyOf(payer)
    const lasting = payer.signed.filter(isPaid).length - 1
    expect(paid).toBe(sumOf(payer.signed.filter(isPaid).slice(0, lasting)))
    expect(balance).toBe(FUNDED - paid - fees + back)
    expect(await bookedOf(payer)).toBe(back - paid)
  }
})

/** Buys and reviews, one thing after the other, until the program is gone. */
async function goShopping(payer: MarketPayer, dice: Dice, answered: () => void): Promise<void> {
  const { origin } = program
  const send = async (signed: Signed | null) => {
    const answer = signed && (await payer.send(origin, signed))
    if (answer) answered()
    return answer !== null
  }
  for (const signed of payer.signed.filter((each) => !isDecided(each))) if (!(await send(signed))) return
  for (;;) {
    const plan = dice.chance(0.3) ? demoPlan : echoes(dice.between(1, 1_000_000))
    const signed = dice.chance(0.3) ? await payer.order(origin, plan) : await payer.read(origin)
    if (!(await send(signed))) return
    const jobId = dice.pick([...payer.jobs, ''])
    if (jobId !== '' && dice.chance(0.5) && !(await payer.review(origin, jobId))) return
  }
}

/** Some answers after its start, and a moment more, the program is killed, and started again. */
async function killAmidSales(payers: readonly MarketPayer[], dice: Dice): Promise<void> {
  const [answersMin, momentMs] = [dice.between(0, 6), dice.between(0, 1_000)]
  const enough = Promise.withResolvers<void>()
  let count = 0
  const answered = () => {
    if (++count >= answersMin) enough.resolve()
  }
  if (answersMin === 0) enough.resolve()
  const rpcUrl = await market.rpcUrl()
  for (const payer of payers) payer.connect(rpcUrl)
  const shopping = payers.map((payer) => goShopping(payer, new Dice(`${dice.bytes(8)}`), answered))
  const crashed = program.ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
  const given = Promise.all(shopping).then(() => Promise.reject(new Error('nobody buys any more')))
  await Promise.race([enough.promise, crashed, given])
  await new Promise((resolve) => setTimeout(resolve, momentMs))
  await program.kill()
  await Promise.all(shopping)
  program = await startAgain()
}

/** As a supervisor does: a start whose stores do not answer in time ends. */
async function startAgain(): Promise<RunningMillrace> {
  for (let tries = 1; ; tries++) {
    try {
      return await market.start()
    } catch (error) {
      if (tries === STARTS_MAX) throw error
      process.stderr.write(`${error}\n`)
    }
  }
}
const STARTS_MAX = 5

/** The sums that the job of a payment gave back, and its review earned, by the service's own word. */
async function owedFor(jobId: string, charged: bigint): Promise<bigint> {
  const units = (decimal: unknown) => {
    const { units: digits, decimals } = scaledOf(String(decimal))
    return digits * 10n ** BigInt(6 - decimals)
  }
  const { body: job } = (await readJob(program.origin, jobId)) ?? {}
  const { body: review } = (await readReview(program.origin, jobId)) ?? {}
  const reward = membersOf(review?.['reward'])
  return (
    charged -
    units(membersOf(job?.['usage'])['committed']) +
    (reward['status'] === 'paid' ? units(reward['amount']) : 0n)
  )
}

const limits = { timeout: (KILLS + 20) * 60_000 }
test(
  `after ${KILLS} kills amid reads and jobs everybody has what is theirs, to the unit`,
  limits,
  async () => {
    const seed = seedOf(1)
    process.stderr.write(`SEED=${seed} KILLS=${KILLS}\n`)
    const dice = new Dice(`money kills ${seed}`)
    const payers = await newPayers(4)
    for (let kills = 0; kills < KILLS; kills++) {
      await killAmidSales(payers, dice)
      const signed = payers.flatMap((payer) => payer.signed).length
      process.stderr.write(`kill ${kills + 1}: ${signed} signed, node ${await market.rpcUrl()}\n`)
    }
    for (const payer of payers) for (const signed of payer.signed) await decide(payer, signed)
    const jobs = payers.flatMap((payer) => payer.jobs.map((jobId) => ({ payer, jobId })))
    for (const { payer, jobId } of jobs) {
      await until(async () => (await readJob(program.origin, jobId))?.status === 200)
      await payer.review(program.origin, jobId)
    }
    await booksAreRight()
    for (const payer of payers) await hasWhatIsTheirs(payer)
    await sellersWerePaidOnce()
    process.stderr.write(
      `${jobs.length} jobs, ${payers.flatMap(({ signed }) => signed.filter(isPaid)).length} paid\n`,
    )
  },
)

async function hasWhatIsTheirs(payer: MarketPayer): Promise<void> {
  const { balance, paid, fees, back } = await moneyOf(payer)
  const prices = sumOf(payer.signed.filter(isPaid))
  expect(paid).toBe(prices)
  let owed = 0n
  for (const signed of payer.signed) {
    const jobIds = isPaid(signed) ? jobIdsIn(signed) : []
    // One payment buys one job, however often it is sent.
    expect(jobIds).toHaveLength(isPaid(signed) && signed.path === '/v1/jobs' ? 1 : 0)
    for (const jobId of jobIds) owed += await owedFor(jobId, signed.amount)
    answeredOnce(payer, signed)
  }
  expect(back).toBe(owed)
  expect(balance).toBe(FUNDED - prices - fees + owed)
  expect(await bookedOf(payer)).toBe(back - paid)
}

/**
 * A read is answered once. One whose program was killed before it wrote down that the answer had left,
 * and so was the last that its payer got of it, is answered by another once more.
 */
function answeredOnce(payer: MarketPayer, signed: Signed): void {
  if (signed.path === '/v1/jobs') return
  const answers = signed.answers.filter(({ status }) => status === 200)
  for (const { origin, at } of answers.slice(0, -1)) {
    const later = payer.signed.flatMap((each) => each.answers).filter((each) => each.at > at)
    expect(later.map((each) => each.origin)).not.toContain(origin)
  }
}

/** Each payment to a seller is of one attempt of a call, and no other money left the wallet. */
async function sellersWerePaidOnce(): Promise<void> {
  const out = await market.transfers({ from: [market.wallet] })
  const jobs = await market.rows('SELECT id FROM app.jobs')
  const paid: string[] = []
  for (const { id } of jobs) {
    const { body } = (await readJob(program.origin, id)) ?? {}
    const attempts = itemsOf(body?.['runs']).flatMap((run) => itemsOf(membersOf(run)['attempts']))
    for (const attempt of attempts) {
      const hash = membersOf(membersOf(attempt)['paid'])['transactionHash']
      if (hash !== undefined) paid.push(String(hash))
    }
  }
  const sent = out.filter(({ to }) => to !== feeManager).map(({ txHash }) => txHash)
  expect(sent.toSorted()).toEqual(paid.toSorted())
}

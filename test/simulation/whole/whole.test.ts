// Goal: whatever becomes of payments, chain, nodes, facilitator, processes and the database, nothing is
// paid twice, nothing that is owed is forgotten, and the books agree with the chain; planted bugs are found.
// Method: the program's own payments, jobs, payouts, proofs and reviews over their rows in Postgres, under
// simulated time; a seed decides everything.
// Invariant: I11.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAppStore } from '../../support/appStore.ts'
import { isFull, isLong, onceTest, seedsFrom, share } from '../../support/breadth.ts'
import { seedOf } from '../../support/seed.ts'
import { SimStore } from './simStore.ts'
import { simulateWhole, type WholeOutcome } from './simulateWhole.ts'
import { bugSeeds, type WholeBugName } from './wholeBugs.ts'

const seeds = seedsFrom(seedOf(1), 2, isLong ? 100 : 5)

const { postgres } = await openAppStore()
const client = await postgres.pool.connect()
const store = new SimStore(client)
beforeAll(() => store.prepare())
afterAll(() => client.release())

const outcomes = new Map<number, WholeOutcome>()

async function historyOf(seed: number): Promise<WholeOutcome> {
  const outcome = outcomes.get(seed) ?? (await simulateWhole(store, seed))
  outcomes.set(seed, outcome)
  return outcome
}

test(`${seeds.length} histories: nothing is paid twice, and nothing that is owed is forgotten`, async ({
  annotate,
}) => {
  const sums: Record<string, number> = {}
  for (const seed of seeds) {
    const { wrong, drawn } = await historyOf(seed)
    expect(wrong, `SEED=${seed}`).toEqual([])
    for (const [name, count] of Object.entries(drawn)) sums[name] = (sums[name] ?? 0) + count
  }
  await annotate(`drawn: ${JSON.stringify(sums)}`)
  // Histories without faults, refunds and rewards would prove little.
  for (const name of isFull ? usual : (['kills', 'reorgs'] as const))
    expect(sums[name], name).toBeGreaterThan(0)
  if (isLong) expect(sums['restores']).toBeGreaterThan(seeds.length / 5)
  if (isLong) for (const [name, sum] of Object.entries(sums)) expect(sum, name).toBeGreaterThan(0)
})

const usual = [
  'kills',
  'stops',
  'lost',
  'reorgs',
  'restores',
  'retries',
  'left',
  'refunds',
  'rewards',
] as const

onceTest('a seed replays identically', async () => {
  expect(await simulateWhole(store, seedOf(1))).toEqual(await historyOf(seedOf(1)))
})

const planted = Object.entries(bugSeeds) as [WholeBugName, number][]

/** Any change of what draws by chance makes another history of a seed. */
const TRIED_MAX = 20

test.each(share(planted, 1))('the planted bug is found: %s', async (bug, first) => {
  const tried = [first, ...Array.from({ length: TRIED_MAX }, (_, index) => index + 1)]
  let found = 0
  for (let index = 0; index < tried.length && found === 0; index++)
    found = (await simulateWhole(store, tried[index] ?? first, [bug])).wrong.length
  expect(found).toBeGreaterThan(0)
})

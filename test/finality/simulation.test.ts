// Goal: whatever nodes say and wherever the program dies, nothing false becomes final, nothing does
// without a stored certificate, and what is certified becomes final when the lies end.
// Method: the program's watch, rules, keys and head lane over nodes, chance and a disk of one seed, with
// signatures that cost nothing; by certificates alone, and by words until the first one. Planted bugs
// are found, or finding none would say nothing.
// Invariant: I12.
import { expect, test } from 'vitest'
import { seedsFrom, share } from '../support/breadth.ts'
import { seedOf } from '../support/seed.ts'
import { type FinalityBug, finalityBugs } from './simulation/bugs.ts'
import { simulate } from './simulation/simulate.ts'

/** The others run with `npm run test:all`. */
const seeds = seedsFrom(seedOf(1), 40, 2_040)
const BUG_SEEDS_MAX = 200

test('no seed makes anything false final, and each ends with what is certified', async () => {
  const sums = { kills: 0, proofs: 0 }
  for (const seed of seeds) {
    const { violations, kills, proofs } = await simulate(seed)
    expect(violations, `SEED=${seed}: node test/finality/simulation/run.ts 1 ${seed}`).toEqual([])
    sums.kills += kills
    sums.proofs += proofs
  }
  // Without kills and certificates seeds would prove little.
  expect(sums.kills).toBeGreaterThan(seeds.length)
  expect(sums.proofs).toBeGreaterThan(3 * seeds.length)
}, 300_000)

test.each(share(finalityBugs, 2))(
  'the planted bug is found: %s',
  async (bug: FinalityBug) => {
    let found = 0
    for (let seed = 1; seed <= BUG_SEEDS_MAX && found === 0; seed++)
      if ((await simulate(seed, bug)).violations.length > 0) found = seed
    expect(found).toBeGreaterThan(0)
  },
  300_000,
)

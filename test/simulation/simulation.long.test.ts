// Goal: thousands of seeds hold every invariant and converge.
import { expect, test } from 'vitest'
import { seedOf } from '../support/seed.ts'
import { makeBodies } from './bodies.ts'
import { bugNames, bugSwarms } from './bugs.ts'
import { simulate } from './simulate.ts'
import { oneLiar } from './swarm.ts'

const SEEDS = 2_000
const BUG_SEEDS_MAX = 500

const bodies = await makeBodies(25)

test('2,000 seeds hold and converge (ING-01, ING-02)', async () => {
  const from = seedOf(1_001)
  for (let seed = from; seed < from + SEEDS; seed++) {
    const { violations } = await simulate(seed, { bodies })
    expect(violations, `SEED=${seed}: node test/simulation/run.ts --seed ${seed} --trace`).toEqual([])
  }
}, 7_200_000)

test('2,000 seeds with one liar of two endpoints hold and converge (L21 on)', async () => {
  const from = seedOf(1_001)
  for (let seed = from; seed < from + SEEDS; seed++) {
    const { violations } = await simulate(seed, { bodies, swarm: oneLiar })
    expect(violations, `SEED=${seed}: node test/simulation/run.ts --seed ${seed} --liar --trace`).toEqual([])
  }
}, 7_200_000)

test.each(bugNames)(
  'the planted bug is found within 500 seeds: %s (ING-14)',
  async (bug) => {
    let found = 0
    for (let seed = 1; seed <= BUG_SEEDS_MAX && found === 0; seed++)
      if ((await simulate(seed, { bodies, bugs: [bug], swarm: bugSwarms[bug] })).violations.length > 0)
        found = seed
    expect(found).toBeGreaterThan(0)
  },
  3_600_000,
)

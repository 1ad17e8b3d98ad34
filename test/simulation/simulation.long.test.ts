// Goal: thousands of seeds hold every invariant and converge.
import { expect, test } from 'vitest'
import { seedOf } from '../support/seed.ts'
import { makeBodies, makeForkedBodies, mostlyEmpty } from './bodies.ts'
import { bugNames, bugSwarms } from './bugs.ts'
import { simulate } from './simulate.ts'
import { longOutage, oneLiar } from './swarm.ts'

/** Seeds of one piece: a run of some minutes, that `-t` starts alone. */
const PIECE_SEEDS = 500
const PIECE_OUTAGES = 250
const PIECES = [0, 1, 2, 3] as const
const BUG_SEEDS_MAX = 500

const bodies = [...(await makeBodies(25)), ...(await makeForkedBodies(10))]

const firstOf = (piece: number): number => seedOf(1_001) + piece * PIECE_SEEDS

test.each(PIECES)(
  '2,000 seeds hold and converge, piece %i (ING-01, ING-02)',
  async (piece) => {
    const from = firstOf(piece)
    for (let seed = from; seed < from + PIECE_SEEDS; seed++) {
      const { violations } = await simulate(seed, { bodies })
      expect(violations, `SEED=${seed}: node test/simulation/run.ts --seed ${seed} --trace`).toEqual([])
    }
  },
  7_200_000,
)

test.each(PIECES)(
  '2,000 seeds with one liar of two endpoints hold and converge, piece %i (L21 on)',
  async (piece) => {
    const from = firstOf(piece)
    for (let seed = from; seed < from + PIECE_SEEDS; seed++) {
      const { violations } = await simulate(seed, { bodies, swarm: oneLiar })
      expect(violations, `SEED=${seed}: node test/simulation/run.ts --seed ${seed} --liar --trace`).toEqual(
        [],
      )
    }
  },
  7_200_000,
)

test.each(PIECES)(
  '1,000 outages of 2,000 blocks end as none do, piece %i (W1)',
  async (piece) => {
    const from = seedOf(1) + piece * PIECE_OUTAGES
    for (let seed = from; seed < from + PIECE_OUTAGES; seed++) {
      const { violations } = await simulate(seed, { bodies: mostlyEmpty(bodies), swarm: longOutage })
      expect(violations, `SEED=${seed}: node test/simulation/run.ts --seed ${seed} --away --trace`).toEqual(
        [],
      )
    }
  },
  7_200_000,
)

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

// Goal: simulated stores answer as the real ones do, in 500 sequences of calls.
import { expect, test } from 'vitest'
import { seedOf } from '../support/seed.ts'
import { Conformance } from './conformance.ts'

const CHAINS = 10
const SEQUENCES_PER_CHAIN = 50
const CALLS = 8

test('500 sequences: simulated stores answer as the real ones do, call by call', async () => {
  for (let chain = 0; chain < CHAINS; chain++) {
    const seed = seedOf(100) + chain
    const conformance = await Conformance.open(seed)
    try {
      for (let n = 0; n < SEQUENCES_PER_CHAIN; n++)
        expect(await conformance.sequence(CALLS), `SEED=${seed}, sequence ${n}`).toBeNull()
    } finally {
      await conformance.close()
    }
  }
}, 3_600_000)

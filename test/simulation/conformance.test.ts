// Goal: simulated stores answer as the real ones do, call by call.
import { expect, test } from 'vitest'
import { seedOf } from '../support/seed.ts'
import { Conformance } from './conformance.ts'

/** 500 run with `npm run test:long`. */
const SEQUENCES = 15
const CALLS = 8

test('simulated stores answer as the real ones do, call by call', async () => {
  const seed = seedOf(1)
  const conformance = await Conformance.open(seed)
  try {
    for (let n = 0; n < SEQUENCES; n++)
      expect(await conformance.sequence(CALLS), `SEED=${seed}, sequence ${n}`).toBeNull()
  } finally {
    await conformance.close()
  }
})

// Setup of every test file: random tests draw from one seed, so that a run says the same of the
// same code each time.
import fc from 'fast-check'

/** The seed of a run: SEED when set, which looks elsewhere or replays a printed failure. */
export const seedOf = (fallback: number): number => Number(process.env['SEED'] ?? fallback)

fc.configureGlobal({ seed: seedOf(1) })

// Goal: what passes the gate calls, in Postgres' own parse tree, no function that its text does not
// call.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadPostgresGrammar } from '#query/postgres/gate/gate.ts'
import { seedOf } from '../../support/seed.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import { resolveRandomNames } from './resolution.ts'

let chain: ExampleChain

beforeAll(async () => {
  await loadPostgresGrammar()
  chain = await createExampleChain()
})

afterAll(async () => {
  await chain?.close()
})

it('500 random queries about names mean to Postgres what they mean to the gate', async () => {
  const { passed, resolved, escaped } = await resolveRandomNames(chain, seedOf(1), 500)
  expect(escaped).toEqual([])
  expect(passed).toBe(500)
  expect(resolved).toBeGreaterThan(200)
})

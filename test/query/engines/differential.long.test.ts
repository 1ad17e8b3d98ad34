// Goal: both engines mean the same by any query of the common subset. Method: random queries over
// rows with absent values and extremes; equal answers, or words of ours why there is none.
// MILLRACE_SEED and MILLRACE_QUERIES choose others.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UserQueryEngine } from '#query/result.ts'
import { openEngine } from '../support/engine.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'
import { compareEngines } from './differential.ts'

let chain: ExampleChain
let engines: readonly [UserQueryEngine, UserQueryEngine]

beforeAll(async () => {
  chain = await createExampleChain()
  engines = [openEngine(chain, 'postgres'), openEngine(chain, 'clickhouse')]
})

afterAll(async () => {
  for (const engine of engines ?? []) await engine.close()
  await chain?.close()
})

it('random queries mean the same on both engines', async () => {
  const first = Number(process.env['MILLRACE_SEED'] ?? 1)
  const count = Number(process.env['MILLRACE_QUERIES'] ?? 5_000)
  const seeds = Array.from({ length: count }, (_, index) => first + index)
  const { equal, refused, found } = await compareEngines(engines, chain.chainId, seeds)
  process.stdout.write(
    `seeds ${first} to ${first + count - 1}: ${equal} equal, ${refused} refused, ${found.length} different\n`,
  )
  expect(found).toEqual([])
  expect(equal).toBeGreaterThan(count / 2)
})

import { expect, test } from 'vitest'
import { silentLogger } from '#telemetry.ts'
import { openPostgres } from '../postgres.ts'
import { ChainState } from './ChainState.ts'
import { CommitBell } from './commits.ts'

test('a head goes back when all that follow are lower, and not for one that is behind (L8, L21)', async () => {
  // Connects to nothing: no store is asked.
  const postgres = openPostgres({
    url: 'postgres://127.0.0.1:1/none',
    applicationName: 'test',
    log: silentLogger,
  })
  const state = new ChainState({
    chainId: 1,
    schema: 'chain_1',
    startBlock: 0,
    postgres,
    bell: new CommitBell(),
  })
  for (const head of [100, 98, 101, 97]) state.sawHead(head)
  expect(state.head).toBe(101)
  state.sawHead(2 ** 40)
  for (let head = 102; head < 130; head++) state.sawHead(head)
  expect(state.head).toBe(2 ** 40)
  for (let head = 130; head < 140; head++) state.sawHead(head)
  expect(state.head).toBe(139)
  await postgres.close()
})

// Goal: where no node tells what no block tells, it is asked less and less often, and blocks go on
// being taken in meanwhile. A database that is away for a moment stops none of them.
// Method: the driver over a real store, a node that never answers and a clock of the test; an hour
// passes. The database is closed to connections, and those that are there are cut.
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { failure } from '#errors.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { openChainStore, recordedBatches } from '../support/chainStore.ts'
import { followersOf, recordedCalls } from '../support/followers.ts'

const exchange: string = '0xdec0000000000000000000000000000000000000'
const recording = 'tempo-dev-2k'
const HOUR_MS = 3_600_000
/** Each wait takes at least as long, or an hour would be thousands of looks at the store. */
const STEP_MS = 20_000

class SilentNodeError extends failure('SilentNodeError', 'silent', 'retry') {}

describe('followers whose node does not answer', () => {
  test('ask a handful of times in an hour, say so, and go on at once when it answers', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const batches = recordedBatches(recording, 10)
    const answer = recordedCalls(recording, readBalances(recording))
    let [nowMs, asked, answering] = [0, 0, true]
    const ending = new AbortController()
    const clock: Clock = {
      ...systemRuntime().clock,
      monotonic: () => nowMs,
      sleep: async (ms, signal) => {
        nowMs += Math.max(ms, STEP_MS)
        signal?.throwIfAborted()
      },
    }
    const { driver } = followersOf(store, {
      clock,
      callContracts: (calls, at, signal) => {
        // The newest state tells names; only that of a block tells what genesis gave.
        if (at === 'latest' || answering) return answer(calls, at, signal)
        // Balances alone; the order book asks for its pairs of genesis as often.
        if (calls.every(({ to }) => to !== exchange)) asked++
        throw new SilentNodeError('no node tells the balances')
      },
    })
    const statusOf = (name: string) => driver.status.find((follower) => follower.name === name)
    for (const batch of batches.slice(0, 3)) await store.head.append(batch)
    answering = false
    const running = driver.run(ending.signal)
    await expect.poll(() => statusOf('balances')?.state).toBe('waiting')
    for (const batch of batches.slice(3, 5)) await store.head.append(batch)
    await expect.poll(() => nowMs).toBeGreaterThan(HOUR_MS)
    expect(asked).toBeGreaterThan(2)
    expect(asked).toBeLessThan(40)
    expect(statusOf('balances')).toMatchObject({ problem: 'no node tells the balances', tip: 49 })
    answering = true
    await expect.poll(() => statusOf('balances')?.state).toBe('following')
    ending.abort()
    await running
    expect(statusOf('balances')).toMatchObject({ problem: null })
  })
})

describe('followers whose database is away for a moment', () => {
  test('wait for it, and go on once it is back', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const { driver } = followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    const batches = recordedBatches(recording, 10)
    for (const batch of batches.slice(0, 2)) await store.head.append(batch)
    const allow = databaseDoor(store.access.databaseUrl)
    const ending = new AbortController()
    const running = driver.run(ending.signal)
    const states = () => new Set(driver.status.map(({ state }) => state))
    await expect.poll(states).toEqual(new Set(['following']))
    await allow(false)
    await expect.poll(states).toEqual(new Set(['waiting']))
    expect(driver.status[0]?.problem).toMatch(/^Postgres refused a statement or went away/)
    await allow(true)
    await expect.poll(states).toEqual(new Set(['following']))
    for (const batch of batches.slice(2, 3)) await store.head.append(batch)
    await expect.poll(() => driver.status.every(({ tip }) => tip === 29)).toBe(true)
    ending.abort()
    await running
    expect(driver.status.map(({ problem }) => problem)).toEqual(driver.status.map(() => null))
  })
})

/** Opens a database to connections, or closes it and cuts those that are there. */
function databaseDoor(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  const admin = new pg.Pool({ connectionString: url.href, max: 1 })
  onTestFinished(() => admin.end())
  return async (isOpen: boolean) => {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isOpen}`)
    if (!isOpen)
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
  }
}

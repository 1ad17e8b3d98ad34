// Goal: no statement of a writer outlives what asked for it: one that is told to stop ends it, and
// one that was killed leaves none running (W5).
// Method: statements that would sleep for an hour; a child process that is killed in one, on a
// database whose own setting would let it run on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { FollowerDriver } from '#store/follow/FollowerDriver.ts'
import type { BlockFollower } from '#store/follow/follower.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'

let store: ChainStore
beforeAll(async () => {
  store = await openChainStore({ headFrom: 0 })
})
afterAll(() => store.close())

/** Statements of this text that run now. */
async function running(text: string): Promise<number> {
  const found = await store.postgres.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND query = $1`,
    [text],
  )
  return found.rows[0]?.n ?? 0
}

test('a follower that is told to stop ends the statement it is in, keeps nothing of it, and goes on later', async () => {
  const { schema, postgres } = store
  const sleeping = 'SELECT pg_sleep(3600) AS follower'
  const [first] = recordedBatches('tempo-dev-2k', 10)
  if (!first) throw new Error('the recording is too short')
  await store.head.append(first)
  await store.head.finalize(first.range.to)
  let sleeps = true
  const follower: BlockFollower = {
    ...{ name: 'sleeping', version: 1, needs: ['base'], begins: 'early' },
    prepare: async () => async () => {},
    clear: async () => {},
    revert: async () => {},
    apply: async ({ client }, { to }) => {
      // A second statement would begin where the first alone was cancelled.
      if (sleeps) for (let n = 0; n < 2; n++) await client.query(sleeping).catch(() => {})
      return to
    },
  }
  const openDriver = () =>
    new FollowerDriver({
      ...{
        postgres,
        schema,
        startBlock: 0,
        fence: 1n,
        followers: [follower],
        bell: new CommitBell(),
        moved: () => {},
      },
      ...{ clock: systemRuntime().clock, failpoint: () => {}, log: silentLogger },
    })
  const stop = new AbortController()
  const driver = openDriver()
  const ended = driver.run(stop.signal)
  await expect.poll(() => running(sleeping)).toBe(1)
  stop.abort()
  await ended
  await expect.poll(() => running(sleeping)).toBe(0)
  expect(driver.status).toMatchObject([{ state: 'following', tip: -1, problem: null }])
  sleeps = false
  const next = openDriver()
  await next.step(follower, new AbortController().signal)
  await next.step(follower, new AbortController().signal)
  expect(next.status).toMatchObject([{ tip: first.range.to, problem: null }])
})

test('a writer that is killed leaves no statement running', async () => {
  const { pool } = store.postgres
  const sleeping = 'SELECT pg_sleep(3600) AS killed'
  const { rows } = await pool.query<{ name: string }>('SELECT quote_ident(current_database()) AS name')
  await pool.query(`ALTER DATABASE ${rows[0]?.name} SET client_connection_check_interval = 0`)
  const entry = fileURLToPath(new URL('../support/sleepingWriter.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, store.access.databaseUrl, sleeping], { stdio: 'inherit' })
  await expect.poll(() => running(sleeping)).toBe(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await expect.poll(() => running(sleeping)).toBe(0)
})

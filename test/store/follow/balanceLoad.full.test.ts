// Goal: the first load of balances comes in pieces that are kept: whatever writer goes on, wherever
// the one before died, no piece is done twice, and the rows are those of one statement (W5).
// Method: the recorded chain in a real store, loaded at once and in pieces of a few transfers, of
// which the driver fails before the commit, or after it, again and again; and by processes that are
// killed there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetFollowers } from '#store/follow/follower.ts'
import { openBalanceLoad, PIECE_TRANSFERS, recording } from '../support/balanceLoad.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'

/** Every so many commits of a follower one is lost, and one is kept but not told. */
const PIECES_PER_DEATH = 40

async function dump({ postgres, schema }: ChainStore): Promise<Record<string, unknown[]>> {
  const tables = {
    balances: 'holder, token',
    token_totals: 'token',
    balance_changes: 'block_num, token, holder',
    token_changes: 'block_num, token',
    genesis_balances: 'token, holder',
    balance_load: 'to_block',
  }
  const dumped: Record<string, unknown[]> = {}
  for (const [table, order] of Object.entries(tables))
    dumped[table] = (await postgres.pool.query(`SELECT * FROM ${schema}.${table} ORDER BY ${order}`)).rows
  return dumped
}

let store: ChainStore
/** The rows that one statement makes of the chain. */
let whole: Record<string, unknown[]>
beforeAll(async () => {
  store = await openChainStore({ headFrom: 0 })
  const batches = recordedBatches(recording, 10)
  for (const batch of batches) await store.head.append(batch)
  await store.head.finalize(batches.at(-3)?.range.to ?? 0)
  await openBalanceLoad(store, undefined).settle()
  whole = await dump(store)
  expect(whole['balances']?.length).toBeGreaterThan(20)
})
afterAll(() => store.close())

const forget = () => store.postgres.transaction((client) => forgetFollowers(client, store.schema))

test('balances loaded in pieces by writers that die are those of one statement, and no piece is done twice', async () => {
  await forget()
  const died = new Error('died')
  let visits = 0
  const dying = (name: string) => {
    if (name === 'postgres.follower.rows' && ++visits % PIECES_PER_DEATH === 0) throw died
  }
  let [deaths, pieces] = [0, 0]
  const places: string[] = []
  for (let done = false; !done; ) {
    const { followers, driver } = openBalanceLoad(store, PIECE_TRANSFERS, dying)
    const { signal } = new AbortController()
    try {
      for (const follower of followers)
        while (await driver.step(follower, signal)) {
          const load = await store.postgres.pool.query(`SELECT * FROM ${store.schema}.balance_load`)
          if (load.rows[0]) places.push(JSON.stringify(load.rows[0]))
          if (load.rows[0] && ++pieces % PIECES_PER_DEATH === 0) throw died
        }
      done = true
    } catch (error) {
      if (error !== died && !(error instanceof Error && error.cause === died)) throw error
      deaths++
    }
  }
  expect(deaths).toBeGreaterThan(10)
  // Each place once: what was committed is never done again.
  expect(new Set(places).size).toBe(places.length)
  expect(places.length).toBeGreaterThan(258)
  expect(await dump(store)).toEqual(whole)
})

test('balances loaded by processes that are killed are those of one statement', async () => {
  await forget()
  const entry = fileURLToPath(new URL('../support/loadingWriter.ts', import.meta.url))
  const load = async (failpoint: string) => {
    const { databaseUrl } = store.access
    const child = spawn(process.execPath, [entry, databaseUrl, `${store.chainId}`, failpoint], {
      stdio: 'inherit',
    })
    const [code, signal] = await once(child, 'exit')
    return code ?? signal
  }
  const loadedTo = async () => {
    const { rows } = await store.postgres.pool.query(`SELECT * FROM ${store.schema}.balance_load`)
    return rows
  }
  // Tokens come first, whose steps pass the same places.
  expect(await load('postgres.follower.rows:60')).toBe('SIGKILL')
  const first = await loadedTo()
  expect(first).toHaveLength(1)
  expect(await load('postgres.follower.commit:40')).toBe('SIGKILL')
  expect(await loadedTo()).not.toEqual(first)
  expect(await load('')).toBe(0)
  expect(await dump(store)).toEqual(whole)
})

test('a load that is begun anew leaves nothing of the one before', async () => {
  await forget()
  const { driver, followers, settle } = openBalanceLoad(store, PIECE_TRANSFERS)
  const [balances, ...tokens] = followers.toReversed()
  if (!balances) throw new Error('no balances are followed')
  const { signal } = new AbortController()
  for (const follower of tokens) while (await driver.step(follower, signal));
  for (let piece = 0; piece < 9; piece++) expect(await driver.step(balances, signal)).toBe(true)
  await forget()
  await settle()
  const parts = await store.postgres.pool.query(
    `SELECT FROM pg_inherits WHERE inhparent = '${store.schema}.balance_sums'::regclass`,
  )
  expect(parts.rowCount).toBe(0)
  const sums = await store.postgres.pool.query(
    `SELECT FROM (SELECT holder, token, sum(leg * amount) AS sum FROM ${store.schema}.holder_deltas GROUP BY 1, 2) AS summed
     FULL JOIN ${store.schema}.balances USING (holder, token)
     LEFT JOIN ${store.schema}.genesis_balances AS given USING (holder, token)
     WHERE coalesce(sum, 0) + coalesce(given.balance, 0) IS DISTINCT FROM balances.balance`,
  )
  expect(sums.rowCount).toBe(0)
})

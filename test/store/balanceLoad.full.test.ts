// Goal: the first load of balances comes in pieces that are kept: whatever writer goes on, wherever
// the one before died, no piece is done twice, and the rows are those of one statement (W5).
// Method: the recorded chain in a real store, loaded at once and in pieces of a few transfers, of
// which the driver fails before the commit, or after it, again and again.
import { expect, onTestFinished, test } from 'vitest'
import { balancesFollower } from '#store/follow/balances/balances.ts'
import { forgetFollowers } from '#store/follow/follower.ts'
import { createFollowers } from '#store/follow/followers.ts'
import { readBalances } from './support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedBatches } from './support/chainStore.ts'
import { followersOf, recordedCalls } from './support/followers.ts'

const recording = 'tempo-dev-2k'
const HOT_BLOCKS = 20
const PIECE_TRANSFERS = 100
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

test('balances loaded in pieces by writers that die are those of one statement, and no piece is done twice', async () => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const batches = recordedBatches(recording, 10)
  for (const batch of batches) await store.head.append(batch)
  await store.head.finalize(batches.at(-3)?.range.to ?? 0)
  const callContracts = recordedCalls(recording, readBalances(recording))
  const died = new Error('died')
  let visits = 0
  const open = (pieceTransfers: number | undefined, failpoint = (_: string) => {}) => {
    const options = { kind: 'tempo', callContracts } as const
    const tokens = createFollowers({ ...options, chainId: store.chainId }).filter(
      ({ name }) => name === 'tokens',
    )
    const balances = balancesFollower({ ...options, hotBlocks: HOT_BLOCKS, pieceTransfers })
    return followersOf(store, { callContracts, failpoint, followers: [...tokens, balances] })
  }
  await open(undefined).settle()
  const whole = await dump(store)
  expect(whole['balances']?.length).toBeGreaterThan(20)
  await store.postgres.transaction((client) => forgetFollowers(client, store.schema))

  const dying = (name: string) => {
    if (name === 'postgres.follower.rows' && ++visits % PIECES_PER_DEATH === 0) throw died
  }
  let [deaths, pieces] = [0, 0]
  const places: string[] = []
  for (let done = false; !done; ) {
    const { followers, driver } = open(PIECE_TRANSFERS, dying)
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

test('a load that is begun anew leaves nothing of the one before', async () => {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  const batches = recordedBatches(recording, 10)
  for (const batch of batches) await store.head.append(batch)
  await store.head.finalize(batches.at(-1)?.range.to ?? 0)
  const callContracts = recordedCalls(recording, readBalances(recording))
  const options = { kind: 'tempo', callContracts } as const
  const tokens = createFollowers({ ...options, chainId: store.chainId }).filter(
    ({ name }) => name === 'tokens',
  )
  const balances = balancesFollower({ ...options, pieceTransfers: PIECE_TRANSFERS })
  const { driver, settle } = followersOf(store, { callContracts, followers: [...tokens, balances] })
  const { signal } = new AbortController()
  for (const follower of tokens) while (await driver.step(follower, signal));
  for (let piece = 0; piece < 9; piece++) expect(await driver.step(balances, signal)).toBe(true)
  await store.postgres.transaction((client) => forgetFollowers(client, store.schema))
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

// Goal: rows made by other rules are told before anything is added to them, and are made anew from
// the archive in both stores, without a node, also when that is interrupted.
// Method: the recorded chain in both engines; an older program is played by its version numbers in
// the coverage and by rows changed or missing; afterwards every block's digest must be the
// encoder's.
import { beforeAll, describe, expect, onTestFinished } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import { readCoverage, readCoverages } from '#store/ledger/lane.ts'
import { openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { ProjectionOutdatedError, readOutdated } from '#store/ledger/projectionVersions.ts'
import { outdateAll, type RederiveOptions, rederiveRows } from '#store/maintain/rederive.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { projectionVersions } from '#transform/projectionVersions.ts'
import { fullTest, onceTest } from '../../support/breadth.ts'
import { type ChainStore, decode, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { PostgresDamage } from '../support/damage.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'
import { followersOf, silentCalls } from '../support/followers.ts'
import { makeHeavy } from '../support/heavyBlocks.ts'

const never = new AbortController().signal

let batches: EncodedBatch[]
beforeAll(() => {
  batches = recordedBatches('tempo-dev-2k', 10).slice(0, 12)
})

describe('rows of another version', () => {
  async function openWritten(): Promise<ChainStore> {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of batches) await store.head.append(batch)
    await store.head.finalize(99)
    await writeAll(store)
    return store
  }

  const optionsOf = (store: ChainStore): RederiveOptions => ({
    ...store,
    decode: async (raw) => decode(raw),
    onProgress: () => {},
  })

  /** As an older program left it. */
  async function makeOld(store: ChainStore, projection: string): Promise<void> {
    await store.postgres.pool.query(`UPDATE ${store.schema}.coverage SET version = 0 WHERE projection = $1`, [
      projection,
    ])
    await new PostgresDamage(store).drop('token_transfers', 45)
  }

  async function expectWhole(store: ChainStore): Promise<void> {
    const next = await openChainStore({ headFrom: 0, beside: store, fence: store.fence + 1n, cacheBytes: 0 })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInPostgres(next, batches)
    await expectInClickHouse(next, batches.slice(0, 10))
    expect(await readOutdated(next.postgres.pool, next.schema)).toEqual([])
    const versions = (await readCoverages(next.postgres.pool, next.schema, 'postgres')).map(
      ({ version }) => version,
    )
    expect(Math.min(...versions)).toBe(1)
  }

  onceTest('are not added to: the start names them and the command', async () => {
    const store = await openWritten()
    await makeOld(store, 'token_transfers')
    const identity = await readChainIdentity(store.postgres, store.chainId)
    if (!identity) throw new Error('the chain was not opened')
    const opened = openChain(store.postgres, identity, 0, 2n)
    await expect(opened).rejects.toThrow(ProjectionOutdatedError)
    await expect(opened).rejects.toThrow(/token_transfers .*millrace rederive/)
  })

  onceTest('are made anew in both stores; followers begin anew on them', async () => {
    const store = await openWritten()
    await followersOf(store, { callContracts: silentCalls }).settle()
    await makeOld(store, 'token_transfers')
    expect(await rederiveRows(optionsOf(store), never)).toEqual(['token_transfers'])
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([])
    await expectWhole(store)
    await followersOf(store, { callContracts: silentCalls, fence: 2n }).settle()
    expect(await readCoverage(store.postgres.pool, store.schema, 'postgres', 'tokens')).toEqual([
      { from: 0, to: 119 },
    ])
  })

  fullTest('are made anew of a few blocks at a time where blocks are large', async () => {
    const store = await openWritten()
    await makeOld(store, 'token_transfers')
    const makeLight = await makeHeavy(store, [30, 31, 90])
    const decoded: BlockRange[] = []
    const progress: number[] = []
    const options: RederiveOptions = {
      ...optionsOf(store),
      decode: async (raw) => {
        decoded.push(raw.range)
        return decode(raw)
      },
      onProgress: (blocksDone) => progress.push(blocksDone),
    }
    await rederiveRows(options, never)
    expect(decoded).toEqual([
      { from: 0, to: 30 },
      { from: 31, to: 31 },
      { from: 32, to: 90 },
      { from: 91, to: 119 },
    ])
    expect(progress).toEqual([31, 32, 91, 120])
    await makeLight()
    await expectWhole(store)
  })

  fullTest('are left alone when there are none', async () => {
    const store = await openWritten()
    expect(await rederiveRows(optionsOf(store), never)).toEqual([])
    await expectInClickHouse(store, batches.slice(0, 10))
  })

  fullTest('go on where an interruption left them', async () => {
    const store = await openWritten()
    await makeOld(store, 'token_transfers')
    const stop = new AbortController()
    const { postgres, schema } = store
    // Half of the blocks are of our version already, as after a kill between two pieces.
    await postgres.pool.query(
      `INSERT INTO ${schema}.coverage (store, projection, version, blocks) VALUES ('postgres', 'token_transfers', $1, '{[60,120)}')`,
      [projectionVersions.token_transfers],
    )
    stop.abort(new Error('interrupted'))
    await expect(rederiveRows(optionsOf(store), stop.signal)).rejects.toThrow('interrupted')
    const [outdated] = await readOutdated(postgres.pool, schema)
    expect(outdated).toMatchObject({ name: 'token_transfers', missing: [{ from: 0, to: 59 }] })
    await rederiveRows(optionsOf(store), never)
    await expectWhole(store)
  })

  fullTest('of everything, when asked for', async () => {
    const store = await openWritten()
    await new PostgresDamage(store).flip('txs', 44, 'hash')
    await new PostgresDamage(store).drop('logs', 45)
    await outdateAll(store)
    await outdateAll(store)
    const names = await rederiveRows(optionsOf(store), never)
    expect(names).toContain('base')
    expect(names).toHaveLength(7)
    await expectWhole(store)
  })

  onceTest('a projection whose tables came with an update gets them for all of history', async () => {
    const store = await openWritten()
    const { pool } = store.postgres
    await pool.query(`DELETE FROM ${store.schema}.coverage WHERE projection = 'contract_creations'`)
    const partitions = await pool.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${store.schema}.contract_creations'::regclass`,
    )
    for (const { name } of partitions.rows) await pool.query(`DROP TABLE ${name}`)
    expect(await rederiveRows(optionsOf(store), never)).toEqual(['contract_creations'])
    await expectWhole(store)
  })

  fullTest('in a chunk that is being loaded are made anew before it is attached', async () => {
    const store = await openChainStore({ headFrom: 60 })
    onTestFinished(() => store.close())
    for (const batch of batches.slice(6)) await store.head.append(batch)
    await store.head.finalize(99)
    const [chunk] = await store.history.openChunks({ from: 0, to: 59 })
    if (!chunk) throw new Error('no chunk was opened')
    for (const batch of batches.slice(0, 3)) await store.history.appendToChunk(chunk, batch)
    await store.postgres.pool.query(`DELETE FROM ${store.schema}.token_transfers_from_0`)
    await outdateAll(store)
    await rederiveRows(optionsOf(store), never)
    for (const batch of batches.slice(3, 6)) await store.history.appendToChunk(chunk, batch)
    await store.history.attachChunk({ ...chunk, tip: 59 })
    await expectWhole(store)
  })
})

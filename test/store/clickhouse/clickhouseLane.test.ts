// Goal: exactly once in ClickHouse, whatever is lost on the way: an answer, a token, a row, a
// statement half done.
// Method: the recorded chain through the real lane on the real engines; the client between them is
// made to misbehave, or the engine's rows are changed by SQL; at the end every block's digest must
// be the encoder's.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { expectedOf } from '#store/clickhouse/ClickHouseSink.ts'
import { ClickHouseTables } from '#store/clickhouse/ClickHouseTables.ts'
import { ENCODER_VERSION } from '#store/clickhouse/encoderVersion.ts'
import { readArchive } from '#store/ledger/archive.ts'
import { type Queryable, readCoverage } from '#store/ledger/lane.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { fullDescribe, fullTest, onceTest } from '../../support/breadth.ts'
import { loadRecordedChain } from '../../support/recordedChain.ts'
import {
  type ChainStore,
  type ChainStoreOptions,
  decode,
  openChainStore,
  recordedBatches,
  writeAll,
} from '../support/chainStore.ts'
import { expectInClickHouse } from '../support/expectHeld.ts'
import { makeHeavy } from '../support/heavyBlocks.ts'
import { bytesOf, streamOf } from '../support/insertedBytes.ts'
import { withExec } from '../support/withExec.ts'

const tablesOf = ({ clickhouse, database, access }: ChainStore) =>
  new ClickHouseTables({
    client: clickhouse,
    database,
    clock: systemRuntime().clock,
    rowsFolder: access.clickhouseRowsFolder,
  })

const tableIn = (insert: string): string => insert.split(' ')[2] ?? ''

let batches: EncodedBatch[]
beforeAll(() => {
  batches = recordedBatches('tempo-dev-2k', 10).slice(4, 8)
})

async function openWritten(options: Partial<ChainStoreOptions> = {}): Promise<ChainStore> {
  const store = await openChainStore({ headFrom: 40, ...options })
  onTestFinished(() => store.close())
  for (const batch of batches) await store.head.append(batch)
  await store.head.finalize(79)
  return store
}

async function attemptsOf(store: ChainStore): Promise<number[]> {
  const { rows } = await store.postgres.pool.query<{ attempt: number }>(
    `SELECT attempt FROM ${store.schema}.ch_batches WHERE state = 'written' ORDER BY from_block`,
  )
  return rows.map((row) => row.attempt)
}

describe('a batch of the ClickHouse lane', () => {
  onceTest('a batch is in the journal, committed durably, before a byte of it is sent', async () => {
    const seen: string[] = []
    let other: ChainStore | undefined
    const store = await openWritten({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          const committed = await other?.postgres.pool.query(
            `SELECT from_block, to_block, state FROM ${other.schema}.ch_batches`,
          )
          seen.push(JSON.stringify(committed?.rows))
          return insert(parameters)
        }),
    })
    other = await openChainStore({ headFrom: 40, beside: store })
    onTestFinished(() => other?.close())
    await store.postgres.pool.query(`
      CREATE TABLE public.durability (at text, setting text);
      CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.durability VALUES (TG_OP || ' ' || NEW.state, current_setting('synchronous_commit')); RETURN NEW; END $$;
      CREATE TRIGGER note AFTER INSERT OR UPDATE ON ${store.schema}.ch_batches FOR EACH ROW EXECUTE FUNCTION public.note()`)
    const database = new URL(store.access.databaseUrl).pathname.slice(1)
    await store.postgres.pool.query(`ALTER DATABASE ${database} SET synchronous_commit = off`)
    const fast = await openChainStore({ headFrom: 40, beside: store })
    onTestFinished(() => fast.close())
    await writeAll(fast)
    await expectInClickHouse(store, batches)
    const { rows } = await store.postgres.pool.query('SELECT DISTINCT at, setting FROM public.durability')
    expect(rows).toContainEqual({ at: 'INSERT open', setting: 'on' })
    expect(rows).toContainEqual({ at: 'UPDATE written', setting: 'on' })
    expect(rows.every((row) => row.setting === 'on')).toBe(true)
    await store.postgres.pool.query(`DELETE FROM ${store.schema}.ch_batches`)
    await store.postgres.pool.query(
      `UPDATE ${store.schema}.coverage SET blocks = '{}' WHERE store = 'clickhouse'`,
    )
    await store.clickhouse.command({ query: `TRUNCATE TABLE ${store.database}.logs` })
    await writeAll(store)
    expect(new Set(seen)).toEqual(
      new Set([JSON.stringify([{ from_block: 40, to_block: 79, state: 'open' }])]),
    )
  })

  onceTest('a lost answer doubles nothing: the rows are found, not sent again', async () => {
    let lost = 0
    const store = await openWritten({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          const answer = await insert(parameters)
          if (lost++ % 3 > 0) return answer
          answer.stream.resume()
          throw new Error('the connection was reset')
        }),
    })
    for (;;) {
      const advanced = await store.lane.step().catch(() => true)
      if (!advanced) break
    }
    expect(lost).toBeGreaterThan(3)
    await expectInClickHouse(store, batches)
    expect(await attemptsOf(store)).toEqual([0])
  })

  fullTest('a folder that takes no rows is named and tried again, and is no word of the engine', async () => {
    const rowsFolder = join(tmpdir(), `millrace-${crypto.randomUUID()}`)
    const store = await openWritten({ rowsFolder })
    await expect(store.lane.step()).rejects.toMatchObject({
      code: 'rows_file_unwritable',
      remedy: 'retry',
      folder: rowsFolder,
    })
    const stop = new AbortController()
    const running = store.lane.run(stop.signal)
    await expect.poll(() => store.lane.status.state).toBe('retrying')
    stop.abort()
    await running
    expect(store.lane.status.problem).toContain(rowsFolder)
    const next = await openChainStore({ headFrom: 40, beside: store })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInClickHouse(store, batches)
    expect(await attemptsOf(store)).toEqual([0])
  })
})

describe('rows of the ClickHouse lane that are not as sent', () => {
  onceTest(
    'an insert that arrives twice without its token is read back as wrong, deleted and written anew',
    async () => {
      let doubled = 0
      const store = await openWritten({
        wrapClickHouse: (client) =>
          withExec(client, (insert) => async (parameters) => {
            if (!('values' in parameters) || doubled++ > 0) return insert(parameters)
            const bytes = await bytesOf(parameters.values)
            const { insert_deduplication_token: _, ...settings } = parameters.clickhouse_settings ?? {}
            const untold = {
              ...parameters,
              clickhouse_settings: { ...settings, insert_deduplicate: 0 as const },
            }
            for (const suffix of ['a', 'b'])
              (await insert({ ...untold, query_id: `${suffix}`, values: streamOf(bytes) })).stream.resume()
            return insert({ ...untold, values: streamOf(bytes) })
          }),
      })
      await writeAll(store)
      await expectInClickHouse(store, batches)
      expect(await attemptsOf(store)).toEqual([1])
    },
  )

  fullTest(
    'rows of a try that was cut differently are replaced by the batch as the journal has it',
    async () => {
      const store = await openWritten()
      const [first] = batches
      const entry = {
        range: { from: 40, to: 79 },
        encoder: ENCODER_VERSION,
        attempt: 0,
        tables: expectedOf(batches),
      }
      await store.journal.begin(entry)
      if (!first) throw new Error('the recording is too short')
      const cut = { ...entry, range: first.range, tables: expectedOf([first]) }
      await expect(store.sink.resume(cut, [first])).rejects.toMatchObject({ code: 'journal_entry_gone' })
      await writeAll(store)
      await expectInClickHouse(store, batches)
      expect(await attemptsOf(store)).toEqual([1])
    },
  )

  fullTest('rows of the range in a table that shall have none are removed', async () => {
    const quiet = recordedBatches('tempo-dev-2k', 1).find(
      ({ range, tables }) => range.from > 20 && tables.contract_creations.rowCount === 0,
    )
    if (!quiet) throw new Error('every block of the recording creates a contract')
    const store = await openChainStore({ headFrom: quiet.range.from })
    onTestFinished(() => store.close())
    await store.head.append(quiet)
    await store.head.finalize(quiet.range.to)
    await store.clickhouse.command({
      query: `INSERT INTO ${store.database}.contract_creations (block_num, tx_idx) VALUES (${quiet.range.from}, 1)`,
    })
    await writeAll(store)
    await expectInClickHouse(store, [quiet])
  })

  onceTest(
    'a crash between deleting a batch and numbering its next attempt does not hang on the old token',
    async () => {
      const store = await openWritten()
      await writeAll(store)
      await store.postgres.pool.query(`UPDATE ${store.schema}.ch_batches SET state = 'open'`)
      await store.postgres.pool.query(
        `UPDATE ${store.schema}.coverage SET blocks = '{}' WHERE store = 'clickhouse'`,
      )
      for (const name of ['logs', 'txs', 'blocks'])
        await store.clickhouse.command({
          query: `ALTER TABLE ${store.database}.${name} DELETE WHERE 1`,
          clickhouse_settings: { mutations_sync: '2' },
        })
      const next = await openChainStore({ headFrom: 40, beside: store })
      onTestFinished(() => next.close())
      await writeAll(next)
      await expectInClickHouse(store, batches)
      expect(await attemptsOf(store)).toEqual([1])
    },
  )
})

fullDescribe('what the writer before still has under way', () => {
  // Seed 755 of the simulation, before tokens were used up.
  test('an insert of the writer before, held up on its way, adds nothing to the attempt that replaced it', async () => {
    let arrive: (() => Promise<void>) | undefined
    const store = await openWritten({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          if (!('values' in parameters) || !tableIn(parameters.query).endsWith('.logs'))
            return insert(parameters)
          const bytes = await bytesOf(parameters.values)
          arrive = async () => {
            const { stream } = await insert({ ...parameters, values: streamOf(bytes) })
            await finished(stream.resume())
          }
          throw new Error('the request timed out')
        }),
    })
    await expect(store.lane.step()).rejects.toMatchObject({ code: 'clickhouse_failed' })
    await store.clickhouse.command({
      query: `ALTER TABLE ${store.database}.txs DELETE WHERE block_num = 40`,
      clickhouse_settings: { mutations_sync: '2' },
    })
    const next = await openChainStore({ headFrom: 40, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await writeAll(next)
    expect(await attemptsOf(store)).toEqual([1])
    await arrive?.()
    await expectInClickHouse(store, batches)
  })

  // Seed 1594 of the simulation, before deletes carried a fence.
  test('a delete of the writer before, held up on its way, deletes nothing of the next', async () => {
    const store = await openWritten()
    const old = tablesOf(store)
    const next = await openChainStore({ headFrom: 40, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await writeAll(next)
    await old.delete('logs', { from: 40, to: 79 }, 1n)
    await expectInClickHouse(store, batches)
    await old.delete('logs', { from: 40, to: 79 }, 2n)
    await expect(expectInClickHouse(store, batches)).rejects.toThrow()
  })

  test('a Postgres restored from an older copy, with lower fences, may delete again', async () => {
    const store = await openWritten()
    const high = await openChainStore({ headFrom: 40, beside: store, fence: 9n })
    onTestFinished(() => high.close())
    await writeAll(high)
    await store.postgres.pool.query(`UPDATE ${store.schema}.lanes SET fence = 1`)
    const next = await openChainStore({ headFrom: 40, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await next.lane.step()
    await tablesOf(store).delete('logs', { from: 40, to: 79 }, 2n)
    await expect(expectInClickHouse(store, batches)).rejects.toThrow()
  })
})

describe('batches that stop the lane, were taken back, or are large', () => {
  fullTest('a batch that never reads back stops the lane after some attempts, and says which', async () => {
    const store = await openWritten({
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          const answer = await insert(parameters)
          await client.command({
            query: `ALTER TABLE ${tableIn(parameters.query)} DELETE WHERE rand() % 2 = 0`,
            clickhouse_settings: { mutations_sync: '2', allow_nondeterministic_mutations: 1 },
          })
          return answer
        }),
    })
    await expect(store.lane.step()).rejects.toMatchObject({
      code: 'batch_unwritable',
      remedy: 'stop',
      range: { from: 40, to: 79 },
    })
    expect(await readCoverage(store.postgres.pool, store.schema, 'clickhouse')).toEqual([])
    // Seed 1646 of the simulation with a liar: a process started again has as many attempts.
    const next = await openChainStore({ headFrom: 40, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInClickHouse(next, batches)
  })

  onceTest(
    'a block that was taken back never reaches ClickHouse, even if the answer to the revert was lost',
    async () => {
      let loseAnswer = false
      const store = await openChainStore({
        headFrom: 40,
        wrapPostgres: (postgres) => ({
          ...postgres,
          transaction: async (work) => {
            const result = await postgres.transaction(work)
            if (loseAnswer) throw new Error('the connection was reset during COMMIT')
            return result
          },
        }),
      })
      onTestFinished(() => store.close())
      const chain = await loadRecordedChain('tempo-dev-2k', 79, 0)
      const branch = () => decode(chain.range({ from: 60, to: 79 }), 'links')
      const kept = batches.slice(0, 2)
      for (const batch of kept) await store.head.append(batch)
      const fork = await store.head.tip()
      await store.head.append(branch())
      chain.reorg(20)
      const taken = branch()
      loseAnswer = true
      await expect(store.head.revert(fork)).rejects.toThrow('COMMIT')
      loseAnswer = false
      expect(await store.head.tip()).toEqual(fork)
      await store.head.append(taken)
      await store.head.finalize(79)
      await writeAll(store)
      await expectInClickHouse(store, [...kept, taken])
    },
  )

  fullTest(
    'of large blocks the archive gives a few at a time, also to a batch that was begun before',
    async () => {
      let kills = 1
      const failpoint = (name: string) => {
        if (name === 'clickhouse.journal' && kills-- > 0) throw new Error('killed')
      }
      const store = await openWritten({ cacheBytes: 0, failpoint })
      await makeHeavy(store, [44, 45, 60])
      const reads: BlockRange[] = []
      for (let from = 40; from <= 79; from = (reads.at(-1)?.to ?? 79) + 1)
        reads.push((await readArchive(store.postgres.pool, store.schema, { from, to: 79 })).range)
      expect(reads).toEqual([
        { from: 40, to: 44 },
        { from: 45, to: 45 },
        { from: 46, to: 60 },
        { from: 61, to: 79 },
      ])
      await expect(store.lane.step()).rejects.toThrow('killed')
      await writeAll(store)
      await expectInClickHouse(store, batches)
      expect(await attemptsOf(store)).toEqual([0])
    },
  )

  onceTest('the archive is whole while a chunk is being attached under the reader', async () => {
    for (const attachAt of [1, 2, 3]) {
      const store = await openChainStore({ headFrom: 80 })
      onTestFinished(() => store.close())
      let [chunk] = await store.history.openChunks({ from: 40, to: 79 })
      if (!chunk) throw new Error('no chunk was opened')
      for (const batch of batches) {
        await store.history.appendToChunk(chunk, batch)
        chunk = { ...chunk, tip: batch.range.to, tipHash: batch.refs.at(-1)?.hash ?? null }
      }
      const loaded = chunk
      let statements = 0
      const { pool } = store.postgres
      const query = async (text: string, values: unknown[]) => {
        if (++statements === attachAt) await store.history.attachChunk(loaded)
        return pool.query(text, values)
      }
      const reader: Queryable = Object.assign(Object.create(pool), { query })
      const raw = await readArchive(reader, store.schema, { from: 40, to: 79 })
      expect(expectedOf([decode(raw)])).toEqual(expectedOf(batches))
    }
  })
})

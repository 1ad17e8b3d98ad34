// Goal: one writer. A process that lost its lease commits nothing to Postgres and sends nothing to
// ClickHouse; one that has it is never held up by its own other lanes.
// Method: two writers on one database, each with the fence it was granted; the older one tries
// every change there is.
// Invariant: I7.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FencedOutError } from '#runtime/lease.ts'
import { expectedOf } from '#store/clickhouse/ClickHouseSink.ts'
import { ENCODER_VERSION } from '#store/clickhouse/encoderVersion.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { assertFence, claimLane } from '#store/ledger/lane.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { sealSegment } from '#store/ledger/segments.ts'
import { outdateAll } from '#store/maintain/rederive.ts'
import { rewindLedger } from '#store/maintain/rewind.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { type ChainStore, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'

let batches: EncodedBatch[]
beforeAll(() => {
  batches = recordedBatches('tempo-dev-2k', 10).slice(4, 8)
})

/** A store in which two of four batches are written, and the writer that comes after it. */
async function openBoth(): Promise<{ old: ChainStore; next: ChainStore }> {
  const old = await openChainStore({ headFrom: 40 })
  onTestFinished(() => old.close())
  for (const batch of batches.slice(0, 2)) await old.head.append(batch)
  await old.head.finalize(49)
  await writeAll(old)
  const next = await openChainStore({ headFrom: 40, beside: old, fence: 2n })
  onTestFinished(() => next.close())
  return { old, next }
}

describe('a writer that was fenced out', () => {
  test('changes nothing in Postgres, whatever it tries', async () => {
    const { old } = await openBoth()
    const [, , third] = batches
    if (!third) throw new Error('the recording is too short')
    const { schema, postgres } = old
    const entry = { range: { from: 50, to: 59 }, encoder: ENCODER_VERSION, attempt: 0, tables: {} }
    const state = async () => {
      const dump = async (table: string) =>
        (await postgres.pool.query(`SELECT * FROM ${schema}.${table}`)).rows
      return JSON.stringify(
        await Promise.all(['lanes', 'coverage', 'commits', 'chunks', 'ch_batches', 'seals'].map(dump)),
      )
    }
    const before = await state()
    const chunk = { range: { from: 0, to: 39 }, tip: -1, tipHash: null }
    const attempts: Record<string, () => Promise<unknown>> = {
      append: () => old.head.append(third),
      revert: async () => old.head.revert(await old.head.refAt(54)),
      revertWhatIsFinalNow: async () => old.head.revert(await old.head.refAt(44)),
      finalize: () => old.head.finalize(59),
      seal: () => old.head.seal(500),
      sealSegment: () => postgres.transaction((client) => sealSegment(client, schema, 1n, 500)),
      openChunks: () => old.history.openChunks({ from: 0, to: 39 }),
      appendToChunk: () => old.history.appendToChunk(chunk, third),
      attachChunk: () => old.history.attachChunk(chunk),
      begin: () => old.journal.begin(entry),
      retry: () => old.journal.retry({ ...entry, range: { from: 40, to: 49 } }),
      abandon: () => old.journal.abandon({ ...entry, range: { from: 40, to: 49 } }),
      revertChunk: () => old.history.revertChunk({ ...chunk, tip: 9, tipHash: `0x${'00'.repeat(32)}` }, null),
      withdraw: () => old.journal.withdraw({ from: 40, to: 49 }, PARTITION_BLOCKS),
      merge: () => old.journal.merge({ from: 40, to: 59 }),
      rewind: () =>
        rewindLedger({
          ...old,
          startBlock: 0,
          partitionBlocks: PARTITION_BLOCKS,
          to: 44,
          belowFinalized: true,
        }),
      outdateAll: () => outdateAll(old),
      written: () => old.journal.written({ ...entry, range: { from: 40, to: 49 } }),
      claim: () => postgres.transaction((client) => claimLane(client, schema, 1n)),
    }
    for (const [name, attempt] of Object.entries(attempts))
      await expect(attempt(), name).rejects.toThrow(FencedOutError)
    expect(await state()).toBe(before)
    await expectInPostgres(old, batches.slice(0, 2))
  })

  test('sends nothing to ClickHouse, even with a batch in the journal already', async () => {
    const held = { value: true }
    const store = await openChainStore({
      headFrom: 40,
      assertMayWrite: () => {
        if (!held.value) throw new FencedOutError('index', 1n)
      },
    })
    onTestFinished(() => store.close())
    for (const batch of batches) await store.head.append(batch)
    await store.head.finalize(79)
    await store.journal.begin({
      range: { from: 40, to: 79 },
      encoder: ENCODER_VERSION,
      attempt: 0,
      tables: expectedOf(batches),
    })
    held.value = false
    await expect(store.lane.step()).rejects.toThrow(FencedOutError)
    await expectInClickHouse(store, [])
    const next = await openChainStore({ headFrom: 40, beside: store, fence: 2n })
    onTestFinished(() => next.close())
    await writeAll(next)
    await expectInClickHouse(store, batches)
  })
})

describe('the next writer, and others beside it', () => {
  test('the next writer waits for a transaction that was under way, and goes on from what it left', async () => {
    const { old, next } = await openBoth()
    const [, , third, fourth] = batches
    if (!third || !fourth) throw new Error('the recording is too short')
    await expect(old.head.append(third)).rejects.toThrow(FencedOutError)
    await next.head.append(third)
    const { schema, postgres } = old
    const identity = {
      chainId: old.chainId,
      genesisHash: third.refs[0]?.hash,
      headerRule: 'ethereum',
      startBlock: 0,
    }
    expect(identity.genesisHash).toBeDefined()
    await postgres.transaction(async (client) => {
      await assertFence(client, schema, 2n)
      const claim = postgres.transaction(async (other) => {
        await other.query("SET LOCAL lock_timeout = '100ms'")
        await claimLane(other, schema, 3n)
      })
      await expect(claim).rejects.toMatchObject({ sqlState: '55P03' })
    })
    await postgres.transaction((client) => claimLane(client, schema, 3n))
    await expect(next.head.append(fourth)).rejects.toThrow(FencedOutError)
    await expectInPostgres(old, batches.slice(0, 3))
  })

  test('one that hangs in the middle of a transaction is ended by the next, and commits nothing', async () => {
    const { old } = await openBoth()
    const hanging = await old.postgres.pool.connect()
    onTestFinished(() => hanging.release(true))
    // The next writer ends its connection.
    hanging.on('error', () => {})
    await hanging.query('BEGIN')
    await assertFence(hanging, old.schema, 2n)
    await hanging.query(`DELETE FROM ${old.schema}.logs`)
    const last = await openChainStore({ headFrom: 40, beside: old, fence: 3n })
    onTestFinished(() => last.close())
    await expect(hanging.query('COMMIT')).rejects.toThrow()
    await expectInPostgres(last, batches.slice(0, 2))
  })

  test('the head lane commits while a chunk of history is in the middle of a commit', async () => {
    const store = await openChainStore({ headFrom: 40 })
    onTestFinished(() => store.close())
    const [first, second] = batches
    if (!first || !second) throw new Error('the recording is too short')
    await store.postgres.transaction(async (client) => {
      await assertFence(client, store.schema, 1n)
      await store.head.append(first)
      await store.head.append(second)
      await store.head.finalize(45)
      await store.head.revert(await store.head.refAt(49))
    })
    expect((await store.head.tip())?.number).toBe(49)
    await expectInPostgres(store, [first])
  })

  test('a node with another genesis is refused, named by its setting, and nothing is changed', async () => {
    const { old, next } = await openBoth()
    const genesisHash = batches[0]?.refs[0]?.hash
    if (!genesisHash) throw new Error('the recording is too short')
    const identity = { chainId: old.chainId, genesisHash, headerRule: 'ethereum', startBlock: 0 } as const
    await expect(openChain(old.postgres, identity, 500, 3n)).rejects.toMatchObject({
      code: 'genesis_mismatch',
      message: expect.stringMatching(/^RPC_URL: /),
    })
    await next.head.append(batches[2] ?? batches[0] ?? never())
    await expectInPostgres(old, batches.slice(0, 3))
  })
})

function never(): never {
  throw new Error('the recording is too short')
}

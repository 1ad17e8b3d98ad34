import { expect, onTestFinished } from 'vitest'
import { sealNextPartition } from '#store/clickhouse/seal.ts'
import { openChainStore, recordedBatches, writeAll } from './chainStore.ts'
import { expectInClickHouse, expectInPostgres } from './expectHeld.ts'

/**
 * A store of the recorded chain, with a head from block 20 on and the first half of a chunk below it;
 * `goOn` loads all that is left, and expects every row and an equal seal.
 */
export async function openChunkBelowHead() {
  const store = await openChainStore({ headFrom: 20 })
  onTestFinished(() => store.close())
  const batches = recordedBatches('tempo-dev-2k', 10).slice(0, 6)
  const [first, second, ...rest] = batches
  if (!first || !second) throw new Error('the recording is too short')
  for (const batch of rest.slice(0, 2)) await store.head.append(batch)
  const chunk = { range: { from: 0, to: 19 }, tip: -1, tipHash: null }
  await store.history.openChunks(chunk.range)
  await store.history.appendToChunk(chunk, first)
  await store.head.finalize(39)
  await writeAll(store)

  const goOn = async () => {
    const [left] = await store.history.openChunks(chunk.range)
    if (!left) throw new Error('no chunk was opened')
    await store.history.appendToChunk(left, second)
    await store.history.attachChunk({ ...left, tip: 19, tipHash: second.refs.at(-1)?.hash ?? null })
    for (const batch of rest.slice(2)) await store.head.append(batch)
    await store.head.finalize(59)
    await writeAll(store)
    await expectInPostgres(store, batches)
    await expectInClickHouse(store, batches)
    expect(await sealNextPartition({ ...store, partitionBlocks: 20 })).toEqual({ partition: 0, agreed: true })
  }
  return { store, goOn }
}

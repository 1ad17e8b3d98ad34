/** History in chunks over the simulated Postgres; it follows store/ledger/PostgresHistorySink.ts. */
import { type BlockRange, blockCount, difference, splitAligned } from '#ingest/range.ts'
import type { Chunk, HistorySink } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import { ChunkMismatchError, ChunkUnlinkedError } from '#store/ledger/PostgresHistorySink.ts'
import { type SimBatch, storedBlocks } from './ledgerState.ts'
import { labelOf, type SimListener } from './simHead.ts'
import { failure, lost, SCHEMA, type SimLedger } from './simLedger.ts'

const CHUNKS_MAX = 64

export function historySink(ledger: SimLedger, fence: bigint, listener: SimListener): HistorySink<SimBatch> {
  return {
    openChunks: (target) => ledger.transaction('open chunks', () => openChunks(ledger, fence, target)),
    appendToChunk: async (chunk, batch) => {
      await ledger.transaction(`load ${labelOf(batch)}`, () => appendToChunk(ledger, fence, chunk, batch))
      await listener.appended(batch, 'history')
    },
    refInChunk: ({ range }, number) =>
      ledger.read('ref in chunk', () => {
        const held = ledger.state.chunks.get(range.from)?.blocks
        return held?.find(({ ref }) => ref.number === number)?.ref ?? null
      }),
    revertChunk: async (chunk, to) => {
      const orphans = { from: (to?.number ?? chunk.range.from - 1) + 1, to: chunk.tip }
      const label = `revert chunk ${chunk.range.from} to ${to?.number ?? 'nothing'}`
      await listener.withdraw(orphans, () =>
        ledger.transaction(label, () => dropAbove(ledger, fence, chunk, to)),
      )
    },
    attachChunk: (chunk) =>
      ledger.movedBlocks > 0 && isGap(ledger, chunk.range)
        ? move(ledger, fence, chunk)
        : ledger.transaction(`attach ${chunk.range.from}`, () => attach(ledger, fence, chunk)),
  }
}

function openChunks(ledger: SimLedger, fence: bigint, target: BlockRange): readonly Chunk[] {
  if (blockCount(target) <= 0) return []
  ledger.assertFence(fence)
  const { chunks, postgresCoverage } = ledger.state
  const begun = [...chunks.values()].map(({ range }) => range)
  const held = [...postgresCoverage, ...begun].sort((a, b) => a.from - b.from)
  const wanted = { from: target.from, to: Math.min(target.to, ledger.lane().fromBlock - 1) }
  for (const gap of difference(blockCount(wanted) > 0 ? [wanted] : [], held))
    for (const range of splitAligned(gap, chunkWidth(ledger, target)))
      chunks.set(range.from, { range, tip: range.from - 1, blocks: [] })
  return [...chunks.values()]
    .filter(({ range }) => range.from <= target.to && range.to >= target.from)
    .sort((a, b) => a.range.from - b.range.from)
    .map(({ range, tip, blocks }) =>
      ledger.bugs.planted('a chunk resumes a block early') && tip > range.from
        ? { range, tip: tip - 1, tipHash: blocks.at(-2)?.ref.hash ?? null }
        : { range, tip, tipHash: blocks.at(-1)?.ref.hash ?? null },
    )
}

/** As in production a long target gets few chunks, whatever its length. */
const chunkWidth = ({ chunkBlocks }: SimLedger, target: BlockRange): number =>
  Math.max(chunkBlocks, 2 ** Math.ceil(Math.log2(blockCount(target) / CHUNKS_MAX)))

function appendToChunk(ledger: SimLedger, fence: bigint, { range }: Chunk, batch: SimBatch): void {
  ledger.assertFence(fence)
  const chunk = ledger.state.chunks.get(range.from)
  const [first, last] = [batch.refs[0], batch.refs.at(-1)]
  if (!first || !last) throw new Error('a batch has a block')
  const tipHash = chunk?.blocks.at(-1)?.ref.hash ?? null
  const continues = chunk?.tip === first.number - 1 && (tipHash === null || tipHash === first.parentHash)
  if (
    !chunk ||
    chunk.range.to < last.number ||
    (!continues && !ledger.bugs.planted('a chunk resumes a block early'))
  )
    throw new ChunkMismatchError(SCHEMA, range, first.number)
  chunk.blocks = [...chunk.blocks, ...storedBlocks(batch)]
  if (ledger.bugs.planted("a chunk's tip is stored apart from its rows") && ledger.kernel.chance(0.2))
    throw lost()
  chunk.tip = last.number
}

function dropAbove(
  ledger: SimLedger,
  fence: bigint,
  { range, tip, tipHash }: Chunk,
  to: BlockRef | null,
): void {
  ledger.assertFence(fence)
  const chunk = ledger.state.chunks.get(range.from)
  if (!chunk || chunk.tip !== tip || chunk.blocks.at(-1)?.ref.hash !== tipHash)
    throw new ChunkMismatchError(SCHEMA, range, tip + 1)
  chunk.blocks = chunk.blocks.filter(({ ref }) => to !== null && ref.number <= to.number)
  chunk.tip = to?.number ?? range.from - 1
}

/** A downtime left it inside a partition: blocks of the head lane are held below it. */
const isGap = ({ state }: SimLedger, { from }: BlockRange): boolean =>
  state.postgresCoverage.some((held) => held.to < from)

/** From the top down, each piece with its coverage; a kill leaves a shorter chunk (moveChunk.ts). */
async function move(ledger: SimLedger, fence: bigint, { range }: Chunk): Promise<void> {
  const { movedBlocks } = ledger
  for (let to = range.to; to >= range.from; to -= movedBlocks) {
    const piece = { from: Math.max(range.from, to - movedBlocks + 1), to }
    await ledger.transaction(`move ${piece.from}..${piece.to}`, () => {
      ledger.assertFence(fence)
      const chunk = completeChunk(ledger, { from: range.from, to })
      for (const block of chunk.blocks) if (block.ref.number >= piece.from) ledger.keep(block)
      chunk.blocks = chunk.blocks.filter(({ ref }) => ref.number < piece.from)
      if (piece.from === range.from) ledger.state.chunks.delete(range.from)
      else {
        const rest = { ...chunk, range: { from: range.from, to: piece.from - 1 }, tip: piece.from - 1 }
        ledger.state.chunks.set(range.from, rest)
      }
      ledger.extend(ledger.bugs.planted('a move covers more than it moved') ? range : piece)
    })
  }
}

function attach(ledger: SimLedger, fence: bigint, { range }: Chunk): void {
  ledger.assertFence(fence)
  const chunk = completeChunk(ledger, range)
  ledger.extend(range)
  if (ledger.bugs.planted('coverage is stored apart from the chunk') && ledger.kernel.chance(0.2))
    throw lost()
  for (const block of chunk.blocks) ledger.keep(block)
  ledger.state.chunks.delete(range.from)
}

function completeChunk(ledger: SimLedger, range: BlockRange) {
  const chunk = ledger.state.chunks.get(range.from)
  const hasTables = chunk ? chunk.blocks.length > 0 : ledger.state.blocks.has(range.from)
  if (!hasTables) throw failure('42P01', 'nothing of the chunk was loaded')
  if (!chunk || chunk.tip !== chunk.range.to || chunk.range.to !== range.to)
    throw new ChunkMismatchError(SCHEMA, range, chunk?.tip ?? -1)
  const [first, last] = [chunk.blocks[0], chunk.blocks.at(-1)]
  const below = ledger.state.blocks.get(range.from - 1)
  const above = ledger.state.blocks.get(range.to + 1)
  if (below && below.ref.hash !== first?.ref.parentHash) throw new ChunkUnlinkedError(SCHEMA, range, 'stop')
  if (above && above.ref.parentHash !== last?.ref.hash) throw new ChunkUnlinkedError(SCHEMA, range, 'retry')
  return chunk
}

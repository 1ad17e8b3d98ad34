import type { BlockRef } from '#primitives.ts'
import { type BlockRange, difference, normalize, union } from '../../../ingest/range.ts'
import type { Chunk, HeadSink, HistorySink } from '../../../ingest/sink.ts'
import type { RefBatch } from './fakeChain.ts'

/** The points at which the sink may crash: before its transaction, or after it with the answer lost. */
export type SinkCrash = (place: string) => void

/**
 * The head lane in memory. Like a database it changes whole or not at all, whatever happens around
 * it.
 */
export class MemorySink implements HeadSink<RefBatch> {
  blocks: BlockRef[] = []
  finalizedNumber = -1
  sealed: BlockRef[][] = []
  reverts: (number | null)[] = []
  crash: SinkCrash = () => {}

  async tip(): Promise<BlockRef | null> {
    this.crash('tip')
    return this.blocks.at(-1) ?? null
  }

  async refAt(number: number): Promise<BlockRef | null> {
    this.crash('refAt')
    const first = this.blocks[0]
    return (first && this.blocks[number - first.number]) ?? null
  }

  async append(batch: RefBatch): Promise<void> {
    this.crash('append.before')
    const tip = this.blocks.at(-1)
    if (tip && batch.refs[0]?.parentHash !== tip.hash) throw new Error('append does not continue the tip')
    this.blocks = [...this.blocks, ...batch.refs]
    this.crash('append.after')
  }

  async revert(to: BlockRef | null): Promise<void> {
    this.crash('revert.before')
    const number = to?.number ?? null
    if (number !== null && number < this.finalizedNumber) throw new Error('a revert below finality')
    this.reverts.push(number)
    this.blocks = this.blocks.filter((block) => number !== null && block.number <= number)
    this.crash('revert.after')
  }

  async finalize(number: number): Promise<void> {
    this.crash('finalize')
    this.finalizedNumber = Math.max(this.finalizedNumber, number)
  }

  async finalized(): Promise<number> {
    return this.finalizedNumber
  }

  async seal(): Promise<void> {
    this.crash('seal')
    this.sealed.push(this.blocks)
    this.blocks = []
  }
}

interface LoadingChunk {
  readonly range: BlockRange
  refs: BlockRef[]
}

/**
 * History in memory: chunks of equal width, attached when complete and linked to what lies beside
 * them.
 */
export class MemoryHistory implements HistorySink<RefBatch> {
  readonly chunkBlocks: number
  readonly loading = new Map<number, LoadingChunk>()
  attached = new Map<number, BlockRef>()
  covered: BlockRange[] = []
  crash: SinkCrash = () => {}
  #end = Number.POSITIVE_INFINITY

  constructor(chunkBlocks: number) {
    this.chunkBlocks = chunkBlocks
  }

  async openChunks(target: BlockRange): Promise<readonly Chunk[]> {
    this.crash('openChunks')
    const wanted = { from: target.from, to: Math.min(target.to, this.#end) }
    const begun = [...this.loading.values()].map((chunk) => chunk.range)
    for (const hole of difference(difference([wanted], this.covered), normalize(begun)))
      for (let from = hole.from; from <= hole.to; from += this.chunkBlocks)
        this.loading.set(from, {
          range: { from, to: Math.min(hole.to, from + this.chunkBlocks - 1) },
          refs: [],
        })
    return [...this.loading.values()]
      .sort((a, b) => a.range.from - b.range.from)
      .map(({ range, refs }) => ({
        range,
        tip: refs.at(-1)?.number ?? range.from - 1,
        tipHash: refs.at(-1)?.hash ?? null,
      }))
  }

  /** The lane above begins again here: what was planned from there on is dropped. */
  endAt(place: number): void {
    this.#end = place - 1
    for (const from of [...this.loading.keys()]) if (from >= place) this.loading.delete(from)
  }

  async appendToChunk(chunk: Chunk, batch: RefBatch): Promise<void> {
    this.crash('append.before')
    const loading = this.loading.get(chunk.range.from)
    if (!loading) throw new Error('appending to an unknown chunk')
    const tip = loading.refs.at(-1)?.number ?? loading.range.from - 1
    if (batch.range.from !== tip + 1 || chunk.tip !== tip) throw new Error('a batch out of order')
    loading.refs = [...loading.refs, ...batch.refs]
    this.crash('append.after')
  }

  async refInChunk(chunk: Chunk, number: number): Promise<BlockRef | null> {
    this.crash('refInChunk')
    return this.loading.get(chunk.range.from)?.refs.find((ref) => ref.number === number) ?? null
  }

  async revertChunk({ range, tip }: Chunk, to: BlockRef | null): Promise<void> {
    this.crash('revert.before')
    const loading = this.loading.get(range.from)
    if (loading?.refs.at(-1)?.number !== tip) throw new Error('reverting a chunk that has moved')
    loading.refs = loading.refs.filter(({ number }) => to !== null && number <= to.number)
    this.crash('revert.after')
  }

  async attachChunk(chunk: Chunk): Promise<void> {
    this.crash('attach.before')
    const loading = this.loading.get(chunk.range.from)
    if (!loading || loading.refs.at(-1)?.number !== chunk.range.to)
      throw new Error('attaching an incomplete chunk')
    const below = this.attached.get(chunk.range.from - 1)
    if (below && loading.refs[0]?.parentHash !== below.hash) throw new Error('a chunk that does not link')
    for (const ref of loading.refs) this.attached.set(ref.number, ref)
    this.covered = union(this.covered, [chunk.range])
    this.loading.delete(chunk.range.from)
    this.crash('attach.after')
  }
}

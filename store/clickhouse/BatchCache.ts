/**
 * Encoded batches between their commit in Postgres and their insert into ClickHouse. Bounded by
 * bytes: what does not fit is forgotten and made again from the raw archive, so the cache is speed,
 * never truth.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { EncodedBatch } from '#transform/batch.ts'

/**
 * Share of the cache that counts as crowded: beside what an insert is being made of there is room
 * for what history commits until it is done.
 */
const CROWDED_SHARE = 0.75

export class BatchCache {
  readonly #bytesMax: number
  readonly #byFrom = new Map<number, EncodedBatch>()
  #bytes = 0
  #waiting: (() => void)[] = []

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get byteLength(): number {
    return this.#bytes
  }

  /**
   * Keeps a batch if there is room, and nothing older of its blocks; a batch larger than the whole
   * cache is never kept.
   */
  add(batch: EncodedBatch): void {
    this.drop(batch.range)
    if (this.#bytes + batch.byteLength > this.#bytesMax) return
    this.#byFrom.set(batch.range.from, batch)
    this.#bytes += batch.byteLength
  }

  at(fromBlock: number): EncodedBatch | undefined {
    return this.#byFrom.get(fromBlock)
  }

  /** Forgets every batch that touches the range: it was written, or taken back. */
  drop(range: BlockRange): void {
    for (const [from, batch] of this.#byFrom) {
      if (batch.range.to < range.from || from > range.to) continue
      this.#byFrom.delete(from)
      this.#bytes -= batch.byteLength
    }
    if (!this.crowded) this.release()
  }

  /** So full that history waits for room. */
  get crowded(): boolean {
    return this.#bytes >= this.#bytesMax * CROWDED_SHARE
  }

  /**
   * Resolves when there is room for more, or on `release`. History waits here; the head never does.
   */
  async room(): Promise<void> {
    if (!this.crowded) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Lets everybody go on: ClickHouse is down, and waiting for it would only stop Postgres too. */
  release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

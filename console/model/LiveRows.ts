/**
 * A live query's news so far. Block by block: the rows of each, newest block first, without what was taken
 * back. As a whole: the newest result.
 */
import type { EventBlock, LiveEvent } from './liveStream.ts'
import type { QueryAnswer, Row } from './queryAnswer.ts'

interface BlockRows extends EventBlock {
  readonly rows: readonly Row[]
}

export class LiveRows {
  readonly #rowsMax: number
  /** Ascending by block. */
  #blocks: BlockRows[] = []
  #count = 0
  #dropped = false
  /** The newest result; its rows are shown only where it is a whole one. */
  #newest: { readonly answer: QueryAnswer; readonly isWhole: boolean } | null = null
  /** Results heard, of blocks that were taken back too. */
  heard = 0
  /** Blocks taken back. */
  retracted = 0

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
  }

  /** True when the rows changed. */
  apply(event: LiveEvent): boolean {
    if (event.kind === 'retract') {
      const orphaned = new Set(event.blocks.map(({ hash }) => hash))
      const gone = this.#drop(({ hash }) => orphaned.has(hash))
      this.retracted += gone
      return gone > 0
    }
    if (event.kind === 'lagged') return this.#drop(({ num }) => num >= event.from) > 0
    if (event.kind !== 'result') return false
    const { answer, blocks, isWhole } = event
    const begins = this.#newest === null
    this.#newest = { answer, isWhole }
    this.heard += 1
    const [block] = blocks
    if (!isWhole && block) this.#append({ ...block, rows: answer.rows })
    return begins || isWhole || answer.rows.length > 0
  }

  /** All rows as one result; null before the first. */
  answer(): QueryAnswer | null {
    if (!this.#newest) return null
    const { answer, isWhole } = this.#newest
    if (isWhole) return answer
    return {
      ...answer,
      rows: this.#blocks.toReversed().flatMap(({ rows }) => rows),
      truncated: this.#dropped,
    }
  }

  /** Bounded, because nobody reads on for ever what nobody takes away. */
  #append(block: BlockRows): void {
    this.#blocks.push(block)
    this.#count += block.rows.length
    while (this.#count > this.#rowsMax && this.#blocks.length > 1) {
      this.#count -= this.#blocks.shift()?.rows.length ?? 0
      this.#dropped = true
    }
  }

  /** Returns how many blocks it took away. */
  #drop(isGone: (block: EventBlock) => boolean): number {
    const kept = this.#blocks.filter((block) => !isGone(block))
    const gone = this.#blocks.length - kept.length
    this.#blocks = kept
    this.#count = kept.reduce((count, { rows }) => count + rows.length, 0)
    return gone
  }
}

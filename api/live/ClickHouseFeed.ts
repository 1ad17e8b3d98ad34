/**
 * Live queries on ClickHouse follow what is final and there: a result for every block, and never a
 * retraction.
 */
import { covers } from '#ingest/range.ts'
import { readRef } from '#store/ledger/lane.ts'
import type { ChainReads } from '../services.ts'
import { type Feed, frameOfBlock, type Lost, type RunBlock, type Step } from './feed.ts'
import { formatBlockPosition, parseBlockPosition } from './position.ts'

export class ClickHouseFeed implements Feed<number> {
  readonly #chain: ChainReads

  constructor(chain: ChainReads) {
    this.#chain = chain
  }

  /** Above what is final: history that is still being filled is not news. */
  present(): number {
    return Math.max(this.reached(), this.#chain.state.finalized)
  }

  reached(): number {
    this.#chain.state.demand.ask()
    return this.#chain.state.coverage('clickhouse').at(-1)?.to ?? -1
  }

  blockOf = (position: number): number => position
  format = (position: number) => formatBlockPosition(this.#chain.state.chainId, position)
  parse = (id: string) => parseBlockPosition(this.#chain.state.chainId, id)

  /**
   * A row here is never taken back; a place beyond what is there is of another database, or of a newer
   * reader of this one.
   */
  async unsureFrom(at: number): Promise<number> {
    return at > this.present() ? 0 : at + 1
  }

  async next(at: number, run: RunBlock): Promise<Step<number> | Lost | null> {
    const number = at + 1
    const { postgres, state } = this.#chain
    // A place beyond what is final is of another process that saw more than we did, or of another
    // database.
    if (at > this.present()) await state.refresh()
    if (at > this.present()) return 'foreign'
    if (number > state.finalized || !covers(state.coverage('clickhouse'), { from: number, to: number }))
      return null
    const ref = await readRef(postgres.pool, state.schema, number)
    if (!ref) return null
    const bytes = await frameOfBlock(this.format(number), { num: number, hash: ref.hash }, run)
    return { position: number, bytes }
  }
}

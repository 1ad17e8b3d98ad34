/** The port `Source` over nodes that lie: whichever of them answers is drawn anew each time. */
import type { Claim } from '#ingest/finality/rules/claim.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { ChainHead, RawRange, Source } from '#ingest/source.ts'
import type { BlockRef } from '#primitives.ts'
import type { Random } from '#runtime/runtime.ts'
import { headerOf } from './blocks.ts'
import { branchOf, type SimNode, type Truth } from './liars.ts'
import type { Watched } from './watched.ts'

export class LyingSource implements Source {
  readonly chainId = 1
  readonly batchBlocks = 8
  readonly #nodes: readonly SimNode[]
  readonly #truth: Truth
  readonly #watched: Watched
  readonly #random: Random

  constructor(nodes: readonly SimNode[], truth: Truth, watched: Watched, random: Random) {
    this.#nodes = nodes
    this.#truth = truth
    this.#watched = watched
    this.#random = random
  }

  /** As `Heads` puts it together. */
  async head(): Promise<ChainHead> {
    const head = this.#branch().at(-1)
    if (!head) throw new TypeError('every branch has a block')
    const granted = this.#watched.conclude((name) => this.#claimOf(name))
    return {
      head,
      finalized: Math.min(granted?.finalized ?? -1, head.number),
      finalizedBy: granted?.finalizedBy ?? head,
    }
  }

  async blockRef(number: number): Promise<BlockRef | null> {
    return this.#branch()[number] ?? null
  }

  async fetch({ from, to }: BlockRange): Promise<RawRange> {
    const last = Math.min(to, from + this.batchBlocks - 1)
    const refs = this.#branch().slice(from, last + 1)
    const bytes = new TextEncoder().encode(JSON.stringify(refs))
    return { range: { from, to: last }, bytes, endpoint: 'drawn' }
  }

  async waitForHead(): Promise<void> {}

  reportRefuted(): void {}

  async close(): Promise<void> {}

  /** A node without certificates calls its newest block final. */
  #claimOf(name: string): Claim | null {
    const node = this.#nodes.find((one) => one.name === name)
    const newest = node && branchOf(node, this.#truth).at(-1)
    if (!newest) return null
    const head = headerOf(newest)
    const { number: finalized } = head
    return { head, timestamp: null, finalized, finalizedBy: head, isTagged: true, endpoint: name }
  }

  #branch(): readonly BlockRef[] {
    const node = this.#nodes[Math.floor(this.#random() * this.#nodes.length)]
    return node ? branchOf(node, this.#truth).map(headerOf) : []
  }
}

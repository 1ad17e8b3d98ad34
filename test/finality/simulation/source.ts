/** The port `Source` over nodes that lie: whichever of them answers is drawn anew each time. */
import type { Claim } from '#ingest/finality/rules/claim.ts'
import { isGranted } from '#ingest/finality/rules/finalityRule.ts'
import type { BlockRange } from '#ingest/range.ts'
import { EndpointsDisagreeError } from '#ingest/rpc/client/errors.ts'
import type { ChainHead, FetchOptions, RawRange, Source } from '#ingest/source.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { Random } from '#runtime/runtime.ts'
import { headerAt, headerOf } from './blocks.ts'
import { branchOf, type SimNode, type Truth } from './liars.ts'
import type { Watched } from './watched.ts'

export interface LyingSourceOptions {
  readonly nodes: readonly SimNode[]
  readonly truth: Truth
  readonly watched: Watched
  readonly random: Random
  /** Another act of the program, before a range is answered. */
  readonly beside: () => Promise<void>
}

export class LyingSource implements Source {
  readonly chainId = 1
  readonly batchBlocks = 8
  readonly #options: LyingSourceOptions
  /** Nodes that were refuted are asked last, for a while. */
  readonly #leftOut = new Set<string>()

  constructor(options: LyingSourceOptions) {
    this.#options = options
  }

  /** As `Heads` puts it together. */
  async head(): Promise<ChainHead> {
    const { watched, random } = this.#options
    if (random() < 0.2) this.#leftOut.clear()
    const node = this.#drawn()
    const head = branchOf(node, this.#options.truth).map(headerOf).at(-1)
    if (!head) throw new TypeError('every branch has a block')
    watched.conclude((name) => this.#claimOf(name))
    const { granted, name } = watched.deciding
    return {
      head,
      finalized: Math.min(granted?.finalized ?? -1, head.number),
      finalizedBy: granted?.finalizedBy ?? head,
      ...(name === 'proved' && granted && { isProved: true }),
      toldBy: { head: node.name, finalized: granted?.endpoint ?? node.name },
    }
  }

  grants(told: ChainHead): boolean {
    return isGranted(this.#options.watched.deciding, told)
  }

  /** As `Heads`: above what is final one node is asked, below it all must tell the same. */
  async blockRef(number: number, _signal?: AbortSignal, held?: string): Promise<BlockRef | null> {
    const { nodes, watched } = this.#options
    if (number > watched.deciding.number && held === undefined) return this.#refOf(this.#drawn(), number)
    const told = nodes.flatMap((node) => this.#refOf(node, number) ?? [])
    const [first] = told
    if (told.some(({ hash }) => hash !== first?.hash))
      throw new EndpointsDisagreeError(
        number,
        nodes.map(({ name }) => name),
      )
    return first ?? null
  }

  async fetch({ from, to }: BlockRange, { not }: FetchOptions = {}): Promise<RawRange> {
    await this.#options.beside()
    const last = Math.min(to, from + this.batchBlocks - 1)
    const node = this.#drawn(not)
    const refs = branchOf(node, this.#options.truth)
      .map(headerOf)
      .slice(from, last + 1)
    const bytes = new TextEncoder().encode(JSON.stringify(refs))
    return { range: { from, to: last }, bytes, endpoint: node.name }
  }

  async certified(hash: Hash): Promise<BlockRef | null> {
    const header = headerAt(hash)
    const isServed = (node: SimNode) => header && this.#refOf(node, header.number)?.hash === hash
    return this.#options.nodes.some(isServed) ? header : null
  }

  async leaveOutOthers({ number, hash }: BlockRef): Promise<void> {
    for (const node of this.#options.nodes) {
      const told = this.#refOf(node, number)
      if (told && told.hash !== hash) this.#leftOut.add(node.name)
    }
  }

  async waitForHead(): Promise<void> {}

  reportRefuted(endpoint: string): void {
    this.#leftOut.add(endpoint)
  }

  async close(): Promise<void> {}

  /** A node without certificates calls its newest block final. */
  #claimOf(name: string): Claim | null {
    const { nodes, truth } = this.#options
    const node = nodes.find((one) => one.name === name)
    const newest = node && branchOf(node, truth).at(-1)
    if (!newest) return null
    const head = headerOf(newest)
    const { number: finalized } = head
    return { head, timestamp: null, finalized, finalizedBy: head, isTagged: true, endpoint: name }
  }

  #refOf(node: SimNode, number: number): BlockRef | null {
    const block = branchOf(node, this.#options.truth)[number]
    return block ? headerOf(block) : null
  }

  #drawn(not: ReadonlySet<string> = new Set()): SimNode {
    const { nodes, random } = this.#options
    const wanted = nodes.filter(({ name }) => !not.has(name))
    const trusted = wanted.filter(({ name }) => !this.#leftOut.has(name))
    const [from = nodes] = [trusted, wanted].filter(({ length }) => length > 0)
    const node = from[Math.floor(random() * from.length)]
    if (!node) throw new TypeError('there is a node')
    return node
  }
}

/** The chain itself: a tree of true blocks, of which one branch is the chain at any moment. */
import { type BlockRef, hash } from '#primitives.ts'
import { type Body, type PlacedBlock, placeBlock } from './bodies.ts'
import type { Kernel } from './kernel.ts'

export interface WorldBlock extends PlacedBlock {
  readonly ref: BlockRef
  readonly body: Body
}

const GENESIS_PARENT = `0x${'00'.repeat(32)}` as const

export class World {
  /** The chain now, by height. */
  chain: WorldBlock[] = []
  finalized = 0
  /** Every block there ever was, by hash. */
  readonly known = new Map<string, WorldBlock>()
  /** Branches that were left, to come back to. */
  #left: WorldBlock[][] = []
  readonly #kernel: Kernel
  readonly #bodies: readonly Body[]
  readonly #finalityDepth: number
  /** Blocks of one second have the same timestamp on fast chains. */
  readonly #blocksPerSecond: number
  #salt = 0
  #tallest = 0

  constructor(
    kernel: Kernel,
    bodies: readonly Body[],
    options: { finalityDepth: number; length: number; forked: boolean },
  ) {
    this.#kernel = kernel
    this.#bodies = bodies.filter(({ isForked }) => options.forked || !isForked)
    this.#finalityDepth = options.finalityDepth
    this.#blocksPerSecond = kernel.between(1, 3)
    this.chain = [this.#make(undefined)]
    this.extend(options.length - 1)
  }

  get head(): WorldBlock {
    const last = this.chain.at(-1)
    if (!last) throw new Error('a chain has a first block')
    return last
  }

  /** The greatest height that any branch ever had. */
  get tallest(): number {
    return this.#tallest - 1
  }

  /** Grows the chain past every height it ever had. */
  outgrow(): void {
    this.extend(Math.max(1, this.#tallest + 1 - this.chain.length))
  }

  extend(count: number): void {
    for (let n = 0; n < count; n++) this.chain = [...this.chain, this.#make(this.head)]
    this.finalized = Math.max(this.finalized, this.head.ref.number - this.#finalityDepth)
  }

  /**
   * Replaces up to `depth` blocks by another branch, never a final one; sometimes by one it had
   * left before.
   */
  reorg(depth: number): number {
    const height = this.head.ref.number
    const replaced = Math.min(depth, height - this.finalized)
    if (replaced <= 0) return 0
    const back = this.#left.findLast(
      (branch) =>
        (branch[this.finalized]?.hash ?? '') === this.chain[this.finalized]?.hash &&
        branch.length > this.finalized,
    )
    this.#left = [...this.#left.slice(-3), this.chain]
    if (back && this.#kernel.chance(0.3)) {
      this.chain = back
      return replaced
    }
    this.chain = this.chain.slice(0, height + 1 - replaced)
    const length = Math.max(1, replaced + this.#kernel.between(-1, 1))
    for (let n = 0; n < length; n++) this.chain = [...this.chain, this.#make(this.head)]
    return replaced
  }

  /**
   * Another block of the same height takes the newest one's place; false where that one is final.
   */
  replaceHead(): boolean {
    if (this.head.ref.number <= this.finalized) return false
    this.chain = this.chain.slice(0, -1)
    this.chain = [...this.chain, this.#make(this.head)]
    return true
  }

  /** Replaces blocks that were final: what no reorg may do. */
  breakFinality(depth: number): void {
    this.chain = this.chain.slice(0, Math.max(1, this.finalized + 1 - depth))
    this.extend(depth + this.#finalityDepth + 2)
  }

  #make(parent: WorldBlock | undefined): WorldBlock {
    const number = (parent?.ref.number ?? -1) + 1
    this.#tallest = Math.max(this.#tallest, number + 1)
    const body = this.#kernel.pick(this.#bodies)
    const placed = placeBlock(body, {
      number,
      parentHash: parent?.hash ?? GENESIS_PARENT,
      timestamp: 1_700_000_000 + Math.floor(number / this.#blocksPerSecond),
      salt: ++this.#salt,
    })
    const parentHash = hash(parent?.hash ?? GENESIS_PARENT)
    const block = { ...placed, body, ref: { number, hash: hash(placed.hash), parentHash } }
    this.known.set(placed.hash, block)
    return block
  }
}

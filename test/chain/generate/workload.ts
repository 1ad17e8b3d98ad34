/** The everyday mix: which transactions come next, drawn from the seed. */
import { itemAt } from '../random.ts'
import { actions } from './actions/index.ts'
import type { Actor } from './actor.ts'
import { dress } from './dress.ts'
import type { Scene } from './scene.ts'
import type { Transaction } from './transaction.ts'

/** The number that a reorg adds to that of each lane. */
const lanesLeftBehind = 100n

const kinds = Object.entries(actions)
const totalWeight = kinds.reduce((sum, [, { weight }]) => sum + weight, 0)

export class Workload {
  /** How often each kind came. */
  readonly counts: Record<string, number> = {}
  readonly #scene: Scene

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** The transactions of one block. */
  next(count: number): readonly Transaction[] {
    const transactions = this.#scene.queue.splice(0, count)
    // Anvil's pool loses track of a sender whose delegation used up a nonce.
    const delegated = new Set<Actor>()
    while (transactions.length < count) {
      const [kind, action] = this.#draw()
      const transaction = action.build(this.#scene)
      if (!transaction || delegated.has(transaction.from)) continue
      if (transaction.delegate) delegated.add(transaction.from)
      this.counts[kind] = (this.counts[kind] ?? 0) + 1
      transactions.push(dress(transaction, this.#scene))
    }
    return transactions
  }

  /** Takes the nonces of all actors from the chain, and leaves their lanes behind. */
  resync(nonces: readonly number[]): void {
    for (const [index, actor] of this.#scene.world.actors.entries()) actor.nonce = itemAt(nonces, index)
    this.#scene.laneBase += lanesLeftBehind
  }

  #draw(): (typeof kinds)[number] {
    let left = this.#scene.random.next() * totalWeight
    const drawn = kinds.find(([, { weight }]) => {
      left -= weight
      return left < 0
    })
    return drawn ?? itemAt(kinds, kinds.length - 1)
  }
}

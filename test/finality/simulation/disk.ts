/** The disk that outlives a kill: the lane's rows, and what was stored of finality. */

import type { KeyDecision } from '#ingest/finality/keys/keyDecision.ts'
import type { StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import type { FinalityKeeper, FinalityStore } from '#ingest/finality/watch/finalityNetwork.ts'
import type { BlockRef } from '#primitives.ts'
import { MemorySink } from '../../ingest/support/memorySink.ts'
import { headerAt } from './blocks.ts'

/** A write that somebody has to judge at its moment. */
export interface Watchers {
  readonly raising: (number: number, proofs: readonly StoredProof[]) => void
  /** The lowest block that is taken back. */
  readonly takingBack: (lowest: BlockRef) => void
}

/** The lane begins where it was decided: what is final at the first start goes through it too. */
class WholeSink extends MemorySink {
  readonly #startBlock: number
  readonly #raising: (number: number) => void
  readonly #takingBack: (lowest: BlockRef) => void

  constructor(startBlock: number, raising: (number: number) => void, takingBack: (lowest: BlockRef) => void) {
    super()
    this.#startBlock = startBlock
    this.#raising = raising
    this.#takingBack = takingBack
  }

  async emptyFrom(): Promise<number> {
    return this.#startBlock
  }

  override async finalize(number: number): Promise<void> {
    if (number > this.finalizedNumber) this.#raising(number)
    await super.finalize(number)
  }

  override async revert(to: BlockRef | null): Promise<void> {
    const lowest = this.blocks.find((ref) => to === null || ref.number > to.number)
    if (lowest) this.#takingBack(lowest)
    await super.revert(to)
  }
}

export class Disk {
  readonly sink: WholeSink
  readonly #proofs: StoredProof[] = []
  readonly #keys = new Map<number, KeyDecision>()

  constructor(startBlock: number, { raising, takingBack }: Watchers) {
    this.sink = new WholeSink(startBlock, (number) => raising(number, this.#proofs), takingBack)
  }

  get proofs(): readonly StoredProof[] {
    return this.#proofs
  }

  /** @param visit called before and after each write; may throw, as a kill does */
  keeper(visit: (place: string) => void): FinalityKeeper {
    const writing = async (place: string, write: () => void) => {
      visit(`${place}.before`)
      write()
      visit(`${place}.after`)
    }
    return {
      keepProof: (proof) =>
        writing('keepProof', () => {
          if (!this.#proofs.some(({ block }) => block.hash === proof.block.hash)) this.#proofs.push(proof)
        }),
      keepKey: (decision) => writing('keepKey', () => void this.#keys.set(decision.fromEpoch, decision)),
      forgetRefusal: (fromEpoch) => writing('forgetRefusal', () => void this.#keys.delete(fromEpoch)),
    }
  }

  store(): FinalityStore {
    return {
      proofs: async () => this.#proofs.toSorted((one, other) => one.block.number - other.block.number),
      keys: async () => [...this.#keys.values()].toSorted((one, other) => one.fromEpoch - other.fromEpoch),
      proofAt: async (height) => {
        const [proof, other] = this.#proofs.filter(({ block }) => block.number === height)
        return other ? null : (proof ?? null)
      },
      blockAt: async (height) => {
        const ref = this.sink.blocks.find(({ number }) => number === height)
        return ref ? headerAt(ref.hash) : null
      },
    }
  }

  get newestProof(): StoredProof | undefined {
    return this.#proofs.toSorted((one, other) => other.block.number - one.block.number)[0]
  }

  held(number: number): BlockRef | undefined {
    return this.sink.blocks.find((ref) => ref.number === number)
  }
}

/** What outlives a kill: the lane's rows, and what was stored of finality. */

import type { KeyDecision } from '#ingest/finality/keys/keyDecision.ts'
import type { StoredProof } from '#ingest/finality/rules/provedFinality.ts'
import type { FinalityKeeper, FinalityStore } from '#ingest/finality/watch/finalityNetwork.ts'
import type { BlockRef } from '#primitives.ts'
import { MemorySink } from '../../ingest/support/memorySink.ts'
import { headerAt } from './blocks.ts'

/** The lane begins with the first block: what is final at the first start goes through it too. */
class WholeSink extends MemorySink {
  async emptyFrom(): Promise<number> {
    return 0
  }
}

export class Disk {
  readonly sink = new WholeSink()
  readonly #proofs: StoredProof[] = []
  readonly #keys = new Map<number, KeyDecision>()

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
      blockAt: async (height) => {
        const ref = this.sink.blocks.find(({ number }) => number === height)
        return ref ? headerAt(ref.hash) : null
      },
    }
  }

  held(number: number): BlockRef | undefined {
    return this.sink.blocks.find((ref) => ref.number === number)
  }
}

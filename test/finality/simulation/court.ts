/** The conditions that hold after every step, whatever nodes say and wherever the process died. */
import type { StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import type { BlockRef } from '#primitives.ts'
import { trueHash } from './blocks.ts'
import type { Disk } from './disk.ts'

export class Court {
  readonly violations: string[] = []
  readonly #isAgreed: boolean
  #finalized = -1

  /** @param isAgreed endpoints decide until the first certificate */
  constructor(isAgreed: boolean) {
    this.#isAgreed = isAgreed
  }

  /** At the moment that the height is written. */
  raising(number: number, proofs: readonly StoredProof[]): void {
    const isByWord = this.#isAgreed && proofs.length === 0
    if (!isByWord && !proofs.some(({ block }) => block.number >= number))
      this.violations.push(`${number} became final without a stored certificate`)
  }

  /** @param shown what each node shows at its height: where one has none, another may answer alone */
  takingBack({ number, hash }: BlockRef, shown: readonly (string | null)[]): void {
    if (hash === trueHash(number) && shown.every((one) => one === hash))
      this.violations.push(`${number} was taken back, and nobody shows another block there`)
  }

  judge({ sink, proofs }: Disk, place: string): void {
    const finalized = sink.finalizedNumber
    const find = (what: string) => this.violations.push(`${place}: ${what}`)
    if (finalized < this.#finalized) find(`finality went back from ${this.#finalized} to ${finalized}`)
    this.#finalized = Math.max(finalized, this.#finalized)
    for (const { block } of proofs)
      if (block.hash !== trueHash(block.number)) find(`a false certificate of ${block.number} was stored`)
    for (const { number, hash } of sink.blocks)
      if (number <= finalized && hash !== trueHash(number)) find(`a false block ${number} is final`)
  }
}

/** What must hold after every step, whatever nodes say and wherever the process died. */
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

  judge({ sink, proofs }: Disk, place: string): void {
    const finalized = sink.finalizedNumber
    const find = (what: string) => this.violations.push(`${place}: ${what}`)
    if (finalized < this.#finalized) find(`finality went back from ${this.#finalized} to ${finalized}`)
    const isRaised = finalized > this.#finalized
    this.#finalized = Math.max(finalized, this.#finalized)
    for (const { block } of proofs)
      if (block.hash !== trueHash(block.number)) find(`a false certificate of ${block.number} was stored`)
    const isByWord = this.#isAgreed && proofs.length === 0
    if (isRaised && !isByWord && !proofs.some(({ block }) => block.number >= finalized))
      find(`${finalized} became final without a stored certificate`)
    for (const { number, hash } of sink.blocks)
      if (number <= finalized && hash !== trueHash(number)) find(`a false block ${number} is final`)
  }
}

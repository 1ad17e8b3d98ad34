import type { BlockRef } from '#primitives.ts'
import type { CertifiedBlocks } from '../../source.ts'
import type { Certificate } from '../certificate/certificate.ts'
import type { FinalityRule, GrantedFinality } from './finalityRule.ts'

/** A certificate that was checked against the header of its block. */
export interface FinalityProof {
  readonly certificate: Certificate
  /** As its header was recomputed. */
  readonly block: BlockRef
  /** Name of the endpoint that gave it. */
  readonly endpoint: string
}

export interface StoredProof extends FinalityProof {
  /** Unix milliseconds. */
  readonly checkedAtMs: number
}

/** A proof's effect. */
export type ProofTaken = 'moved' | 'known' | 'equivocated'

/** Proofs that further ones are compared with: at one a second, the last minutes. */
const COMPARED_MAX = 512

/**
 * Certificates alone decide: what endpoints say moves nothing, nor does their silence. Two that
 * contradict each other end it, since the keys are then in wrong hands, and no third one is better.
 */
export class ProvedFinality implements FinalityRule, CertifiedBlocks {
  readonly name = 'proved'
  #proof: FinalityProof | null
  #equivocation: readonly [FinalityProof, FinalityProof] | null = null
  readonly #taken: FinalityProof[] = []

  /** @param stored the newest proof of this chain that was stored */
  constructor(stored: FinalityProof | null = null) {
    this.#proof = stored
    if (stored) this.#taken.push(stored)
  }

  /** The newest proof. */
  get proof(): FinalityProof | null {
    return this.#proof
  }

  /** Both proofs, where two contradict each other. */
  get equivocation(): readonly [FinalityProof, FinalityProof] | null {
    return this.#equivocation
  }

  /** Proofs that further ones are compared with. */
  get compared(): readonly FinalityProof[] {
    return this.#taken
  }

  /** Their blocks. */
  get blocks(): readonly BlockRef[] {
    return this.#taken.map(({ block }) => block)
  }

  get certified(): CertifiedBlocks {
    return this
  }

  /** Two proofs that contradict each other do not count; only what was proved below both does. */
  get granted(): GrantedFinality | null {
    const proof = this.#equivocation ? this.#belowBoth(this.#equivocation) : this.#proof
    if (!proof) return null
    const { block, endpoint } = proof
    return { finalized: block.number, finalizedBy: block, endpoint }
  }

  get number(): number {
    return this.granted?.finalized ?? -1
  }

  get held(): string | null {
    if (!this.#equivocation) return null
    const [one, other] = this.#equivocation.map(({ block }) => `block ${block.number} ${block.hash}`)
    return `two valid certificates contradict each other: of ${one} and of ${other}`
  }

  /** A proof that is stored already: what is final never lacks one, whenever the process ends. */
  take(proof: FinalityProof): ProofTaken {
    if (this.#equivocation) return 'equivocated'
    const other = this.#taken.find((taken) => contradicts(taken, proof))
    if (other) {
      this.#equivocation = [other, proof]
      return 'equivocated'
    }
    if (this.#taken.some(({ block }) => block.hash === proof.block.hash)) return 'known'
    this.#taken.push(proof)
    if (this.#taken.length > COMPARED_MAX) this.#taken.shift()
    if (proof.block.number <= this.number) return 'known'
    this.#proof = proof
    return 'moved'
  }

  part(one: BlockRef, other: BlockRef): void {
    const proofOf = ({ hash }: BlockRef) => this.#taken.find(({ block }) => block.hash === hash)
    const [first, second] = [proofOf(one), proofOf(other)]
    if (first && second) this.#equivocation ??= [first, second]
  }

  #belowBoth([one, other]: readonly [FinalityProof, FinalityProof]): FinalityProof | null {
    const end = Math.min(one.block.number, other.block.number)
    const below = this.#taken.filter(({ block }) => block.number < end)
    return below.toSorted((a, b) => b.block.number - a.block.number)[0] ?? null
  }

  conclude(): void {}

  doubt(): void {}
}

/** One height has one final block, and so has one view of an epoch; a final block's parent is final. */
export function contradicts(one: FinalityProof, other: FinalityProof): boolean {
  if (one.block.hash === other.block.hash) return false
  const isOfOneView =
    one.certificate.epoch === other.certificate.epoch && one.certificate.view === other.certificate.view
  return isOfOneView || isBeside(one.block, other.block) || isBeside(other.block, one.block)
}

/** Another block at the height of this one, or a child of another one. */
const isBeside = ({ number, hash }: BlockRef, other: BlockRef): boolean =>
  other.number === number || (other.number === number + 1 && other.parentHash !== hash)

import type { CertifiedBlocks } from '../../source.ts'
import type { FinalityRule, GrantedFinality } from './finalityRule.ts'
import type { ProvedFinality } from './ProvedFinality.ts'

/**
 * `certificate`: a block is final by a certificate alone; `endpoints`: by the word of two
 * endpoints; `both`: by that word until the first certificate was checked.
 */
export type FinalityChoice = 'certificate' | 'endpoints' | 'both'

export function chosenRule(
  choice: FinalityChoice,
  agreed: FinalityRule,
  proved: ProvedFinality,
): FinalityRule {
  if (choice === 'both') return new EitherFinality(agreed, proved)
  return choice === 'certificate' ? proved : agreed
}

/**
 * Endpoints decide until the first certificate of the chain was checked, and never again: whoever
 * wants false blocks to be final would only have to hide the certificates. What is stored as final by
 * then stays so; what they granted beyond it does not count any more.
 */
class EitherFinality implements FinalityRule {
  readonly #agreed: FinalityRule
  readonly #proved: ProvedFinality

  constructor(agreed: FinalityRule, proved: ProvedFinality) {
    this.#agreed = agreed
    this.#proved = proved
  }

  /** The rule by which the newest final block is final. */
  get name(): 'proved' | 'agreed' {
    return this.#deciding.name
  }

  get granted(): GrantedFinality | null {
    return this.#deciding.granted
  }

  get number(): number {
    return this.#deciding.number
  }

  get held(): string | null {
    return this.#deciding.held
  }

  get certified(): CertifiedBlocks {
    return this.#proved
  }

  conclude(silent: ReadonlySet<string>, askedSinceMs: number): void {
    if (!this.#proved.proof) this.#agreed.conclude(silent, askedSinceMs)
  }

  doubt(endpoint: string): void {
    this.#agreed.doubt(endpoint)
  }

  get #deciding(): FinalityRule {
    return this.#proved.proof ? this.#proved : this.#agreed
  }
}

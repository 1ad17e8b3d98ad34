/**
 * The names that things of a recording have each time it is shown again. The first time they are
 * the recorded ones.
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'

/** TIP-20 tokens are known by these leading digits of their addresses, which no name changes. */
const tip20Prefix = '0x20c000000000000000000000'
/** Further apart than the numbers of orders that one recording makes. */
const ordersOfRound = 10n ** 9n

/**
 * The names of one round. Hashes of transactions are enciphered, so that the recorded one can be
 * found again.
 */
export class RoundNames {
  readonly #round: number
  readonly #cipher
  readonly #decipher

  constructor(round: number) {
    this.#round = round
    const key = createHash('sha256').update(`round ${round}`).digest().subarray(0, 16)
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    this.#decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  }

  transaction(recorded: string): string {
    return this.#round === 0 ? recorded : `0x${this.#cipher.update(recorded.slice(2), 'hex', 'hex')}`
  }

  recordedTransaction(hash: string): string {
    return this.#round === 0 ? hash : `0x${this.#decipher.update(hash.slice(2), 'hex', 'hex')}`
  }

  /** The address of a contract that the repeated part makes. */
  address(recorded: string): string {
    if (this.#round === 0) return recorded
    const kept = recorded.startsWith(tip20Prefix) ? tip20Prefix.length : 2
    const digest = createHash('sha256')
      .update(recorded + this.#round)
      .digest('hex')
    return recorded.slice(0, kept) + digest.slice(0, 42 - kept)
  }

  order(recorded: bigint): bigint {
    return recorded + BigInt(this.#round) * ordersOfRound
  }
}

import { failure } from '#errors.ts'
import type { Hex } from '#primitives.ts'

/** A transaction is not of the account the node says. Nothing of the answer may be used. */
export class SenderRefutedError extends failure('SenderRefutedError', 'sender_refuted', 'retry') {
  readonly blockNumber: number
  readonly txIndex: number
  /** The node's word. */
  readonly told: Hex
  /** The account that signed; null when the signature is nobody's. */
  readonly recovered: Hex | null

  constructor(blockNumber: number, txIndex: number, told: Hex, recovered: Hex | null) {
    const truth = recovered === null ? 'its signature does not hold' : `it was signed by ${recovered}`
    super(`block ${blockNumber}: the node says that transaction ${txIndex} is of ${told}, and ${truth}`)
    this.blockNumber = blockNumber
    this.txIndex = txIndex
    this.told = told
    this.recovered = recovered
  }
}

import { spelledQuantity } from '../../read/spelling.ts'
import { BODY_BYTES_MAX, type RpcClient } from '../client/client.ts'

/**
 * An answer about several blocks: twice what it is sized to, so that one that outgrew its estimate
 * is asked for in halves instead of passing what is charged for it. One block may take as much as
 * any answer.
 */
const RANGE_BYTES_MAX = 12 * 1024 * 1024

/** The least gas of a transaction that pays for any. */
const TRANSACTION_GAS = 21_000n
/** Transactions of a block that pay for none: those of the chain itself. */
const UNPAID_MAX = 32
/** Receipts asked for one by one for one range, whatever limit of gas its blocks name. */
const RECEIPT_CALLS_MAX = 50_000

/** The joint limit of the answers for one range, however many requests they come in. */
export class RangeBudget {
  readonly #client: RpcClient
  #bytes: number
  #receiptCalls = RECEIPT_CALLS_MAX

  constructor(client: RpcClient, blocks: number) {
    this.#client = client
    this.#bytes = blocks > 1 ? RANGE_BYTES_MAX : BODY_BYTES_MAX
  }

  /** Bytes left; one where none are, so that the next answer is refused as too large. */
  get bytesMax(): number {
    return Math.max(1, this.#bytes)
  }

  /** @throws RpcError when the answers are more than the range may take */
  spend(bytes: number): void {
    this.#bytes -= bytes
    if (this.#bytes < 0)
      throw this.#client.error('too_large', 'the answers for a range are too long together')
  }

  /** @throws RpcError when a block names more transactions than it has gas for */
  spendReceipts(count: number, gasLimit: unknown): void {
    const gas = spelledQuantity(gasLimit)
    const paid = gas !== null && gas.length <= QUANTITY_CHARACTERS_MAX ? BigInt(gas) / TRANSACTION_GAS : 0n
    if (BigInt(count) > paid + BigInt(UNPAID_MAX))
      throw this.#client.error('malformed', 'a block with more transactions than its limit of gas allows')
    this.#receiptCalls -= count
    if (this.#receiptCalls < 0)
      throw this.#client.error('too_large', 'too many receipts to ask for them one by one')
  }
}

/** 256 bits. */
const QUANTITY_CHARACTERS_MAX = 2 + 64

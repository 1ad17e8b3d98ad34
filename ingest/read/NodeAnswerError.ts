import { MillraceError } from '#errors.ts'

/**
 * The problem of a node's answer, before anything is recomputed:
 * - `json_invalid`: the bytes are no JSON, for instance because the body was cut short, or lists
 *   stand in each other without end;
 * - `item_failed`, `item_missing`, `item_duplicate`: an item of the batch is an error, is absent,
 *   or is there twice;
 * - `block_missing`, `receipts_missing`: null, or a null among the receipts;
 * - `receipts_incomplete`: a transaction has no receipt among those that were told;
 * - `shape_invalid`: a field is absent or has another JSON type;
 * - `hex_invalid`: a hash, address or byte text is none;
 * - `quantity_invalid`: a decimal text, a fraction, or more digits than the field can have;
 * - `block_mismatch`: it tells of another block than was asked for, or than its neighbours tell of;
 * - `transaction_mismatch`: a receipt or log belongs to another transaction than the one at its
 *   place;
 * - `count_mismatch`: there are more or fewer receipts than transactions;
 * - `index_mismatch`: a transaction or log index leaves a gap or repeats;
 * - `log_removed`: a log of an orphaned block.
 */
export type NodeAnswerCode =
  | 'json_invalid'
  | 'item_failed'
  | 'item_missing'
  | 'item_duplicate'
  | 'block_missing'
  | 'receipts_missing'
  | 'receipts_incomplete'
  | 'shape_invalid'
  | 'hex_invalid'
  | 'quantity_invalid'
  | 'block_mismatch'
  | 'transaction_mismatch'
  | 'count_mismatch'
  | 'index_mismatch'
  | 'log_removed'

/**
 * A node's answer cannot be what it claims to be. Another endpoint, or the same one later, may
 * answer right.
 */
export class NodeAnswerError extends MillraceError {
  override readonly name = 'NodeAnswerError'
  readonly code: NodeAnswerCode
  readonly remedy = 'retry'
  /**
   * Path of the field within the answer, such as `transactions[3].value`; empty for the answer
   * itself.
   */
  readonly field: string
  /** Height of the block, when known. */
  readonly blockNumber: number | undefined

  constructor(code: NodeAnswerCode, field: string, blockNumber?: number, options?: ErrorOptions) {
    const place = `${code} at ${field || 'the top'}`
    super(`the node's answer for block ${blockNumber ?? '?'} is not usable: ${place}`, options)
    this.code = code
    this.field = field
    this.blockNumber = blockNumber
  }
}

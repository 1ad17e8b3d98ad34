/**
 * A node's own payloads, put out as the node gave them: schemas for the reference, readers for the
 * few fields we use.
 */
import { failure } from '#errors.ts'
import * as s from '#http/schema.ts'

export type RpcFields = Readonly<Record<string, unknown>>

export const rpcTransaction = s.foreign('The transaction as the node gave it, every field of it.')
export const rpcReceipt = s.foreign('The receipt as the node gave it, every field of it.')
export const rpcBlock = s.foreign(
  "The block as the node gave it, every header field of it, with its transactions' hashes.",
)

/**
 * A quantity, or null where the field is absent, null or not one. Some nodes write times as
 * numbers.
 */
export function readQuantity(fields: RpcFields, name: string): bigint | null {
  const value = fields[name]
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null
}

/** A text of the field in lowercase, or null. */
export function readHex(fields: RpcFields, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : null
}

/** @throws NodeAnswerError when the field is missing */
export function needed<Value>(value: Value | null, name: string): Value {
  if (value === null) throw new NodeAnswerError(name)
  return value
}

/** A node's answer lacks what every transaction and receipt has. */
export class NodeAnswerError extends failure('NodeAnswerError', 'node_answer_invalid', 'retry') {
  constructor(field: string) {
    super(`the node's answer has no valid ${field}`)
  }
}

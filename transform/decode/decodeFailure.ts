/**
 * Errors of a worker as data and back: structured clone keeps an error's message, but neither its
 * class nor its fields.
 */

import { messageOf } from '#errors.ts'
import { type NodeAnswerCode, NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { type ProvedPart, RefutedError } from '#ingest/verify/RefutedError.ts'
import { SenderRefutedError } from '#ingest/verify/senders/SenderRefutedError.ts'
import { assertNever, type Hex } from '#primitives.ts'
import { EncodeError } from '../encode/values.ts'

export type DecodeFailure =
  | {
      readonly kind: 'nodeAnswer'
      readonly code: NodeAnswerCode
      readonly field: string
      readonly blockNumber: number | undefined
    }
  | { readonly kind: 'refuted'; readonly part: ProvedPart; readonly blockNumber: number }
  | {
      readonly kind: 'sender'
      readonly blockNumber: number
      readonly txIndex: number
      readonly told: Hex
      readonly recovered: Hex | null
    }
  | {
      readonly kind: 'encode'
      readonly table: string
      readonly column: string
      readonly value: string
      readonly blockNumber: number
    }
  | { readonly kind: 'defect'; readonly message: string; readonly stack: string | undefined }

export function describeFailure(error: unknown): DecodeFailure {
  if (error instanceof NodeAnswerError) {
    const { code, field, blockNumber } = error
    return { kind: 'nodeAnswer', code, field, blockNumber }
  }
  if (error instanceof RefutedError) {
    return { kind: 'refuted', part: error.part, blockNumber: error.blockNumber }
  }
  if (error instanceof SenderRefutedError) {
    const { blockNumber, txIndex, told, recovered } = error
    return { kind: 'sender', blockNumber, txIndex, told, recovered }
  }
  if (error instanceof EncodeError) {
    const { table, column, value, blockNumber } = error
    return { kind: 'encode', table, column, value, blockNumber }
  }
  return {
    kind: 'defect',
    message: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  }
}

/**
 * The error again, of its class, with its fields. A defect comes back as a plain Error: nobody is
 * to handle it.
 */
export function reviveFailure(failure: DecodeFailure): Error {
  switch (failure.kind) {
    case 'nodeAnswer':
      return new NodeAnswerError(failure.code, failure.field, failure.blockNumber)
    case 'refuted':
      return new RefutedError(failure.part, failure.blockNumber)
    case 'sender':
      return new SenderRefutedError(failure.blockNumber, failure.txIndex, failure.told, failure.recovered)
    case 'encode':
      return new EncodeError(failure.table, failure.column, failure.value, failure.blockNumber)
    case 'defect':
      return new Error(failure.message, { cause: failure.stack })
    default:
      return assertNever(failure)
  }
}

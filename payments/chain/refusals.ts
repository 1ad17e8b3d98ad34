/** Nodes that surely did not take what they were sent, by their code or by viem's reading of their words. */
import {
  BaseError,
  ExecutionRevertedError,
  FeeCapTooHighError,
  FeeCapTooLowError,
  InsufficientFundsError,
  IntrinsicGasTooHighError,
  IntrinsicGasTooLowError,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  NonceMaxValueError,
  NonceTooHighError,
  NonceTooLowError,
  TipAboveFeeCapError,
  TransactionRejectedRpcError,
  TransactionTypeNotSupportedError,
} from 'viem'
import { containsNodeError, getNodeError } from 'viem/utils'

/** A class of viem's errors. */
type Kind = abstract new (...args: never[]) => Error

const missing: readonly Kind[] = [MethodNotFoundRpcError, MethodNotSupportedRpcError]
const nonces: readonly Kind[] = [NonceTooLowError, NonceTooHighError, NonceMaxValueError]
const fees: readonly Kind[] = [FeeCapTooLowError, FeeCapTooHighError, TipAboveFeeCapError]
const gas: readonly Kind[] = [IntrinsicGasTooLowError, IntrinsicGasTooHighError]

/** By code. */
const refusingCodes = [...missing, TransactionRejectedRpcError]
/** By viem's reading: each is found before a node takes a transaction. */
const refusingWords = [...nonces, ...fees, ...gas, InsufficientFundsError, TransactionTypeNotSupportedError]

/** A chain's reasons to refuse a transaction. */
const reasons: readonly (readonly [readonly Kind[], string])[] = [
  [[InsufficientFundsError], 'its account has too little'],
  [nonces, 'its nonce cannot be used'],
  [fees, 'its fee is not what the chain asks'],
  [gas, 'its gas is not what it needs'],
  [[ExecutionRevertedError], 'it would be reverted'],
  [missing, 'the node cannot send it'],
]

export const isUnknownMethod = (error: unknown): boolean => isOne(error, missing)

export const isRefusal = (error: unknown): boolean =>
  isOne(error, refusingCodes) || isOne(readingOf(error), refusingWords)

/** In words of ours: a node may repeat what it was sent. Null for a failure that is no chain's refusal. */
export function reasonOf(error: unknown): string | null {
  const read = readingOf(error)
  const [, reason] = reasons.find(([kinds]) => isOne(error, kinds) || isOne(read, kinds)) ?? []
  return reason ?? (isRefusal(error) ? 'the node rejects it' : null)
}

const isOne = (error: unknown, kinds: readonly Kind[]): boolean =>
  error instanceof BaseError && error.walk((cause) => kinds.some((kind) => cause instanceof kind)) !== null

/** A gateway's own words are none of a node. */
const readingOf = (error: unknown): unknown =>
  error instanceof BaseError && containsNodeError(error) ? getNodeError(error, {}) : null

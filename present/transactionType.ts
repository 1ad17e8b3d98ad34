/**
 * Human-readable names of the EIP-2718 type byte (contract: the enumeration is closed, so the rest
 * is `unknown`).
 */
import * as s from '#http/schema.ts'

const names = {
  0: 'legacy',
  1: 'eip2930',
  2: 'eip1559',
  3: 'eip4844',
  4: 'eip7702',
  118: 'tempo',
} as const

export const transactionType = s.oneOf([...Object.values(names), 'unknown'])

type TransactionType = s.Static<typeof transactionType>

const byByte: Readonly<Record<number, TransactionType>> = names

export const transactionTypeOf = (byte: number): TransactionType => byByte[byte] ?? 'unknown'

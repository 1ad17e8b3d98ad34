/**
 * What the gate knows about the values of an expression. The engine's own types cannot tell bytes from text (both are
 * String) nor a truth value from a small number (both are UInt8), so both are inferred from the columns used.
 */

import type { LogicalType } from '../logicalType.ts'

export type Scalar = LogicalType | 'interval' | 'uuid' | 'record' | 'null' | 'unknown'

export interface ValueType {
  readonly scalar: Scalar
  /** An array, at any depth, of the scalar. */
  readonly isArray: boolean
}

export const scalar = (type: Scalar): ValueType => ({ scalar: type, isArray: false })
export const arrayOf = (type: ValueType): ValueType => ({ ...type, isArray: true })
export const elementOf = (type: ValueType): ValueType => ({ ...type, isArray: false })

const widths: readonly Scalar[] = ['bool', 'int', 'bigint', 'numeric', 'float']

/** The type that holds values of all: the widest number; bytes wherever bytes meet text. */
export function commonType(types: readonly ValueType[]): ValueType {
  const known = types.filter(({ scalar }) => scalar !== 'null')
  const [first] = known
  if (!first) return scalar('null')
  const scalars = known.map((type) => type.scalar)
  const isArray = first.isArray
  if (scalars.includes('bytes')) return { scalar: 'bytes', isArray }
  const ranks = scalars.map((type) => widths.indexOf(type))
  if (ranks.every((rank) => rank >= 0)) return { scalar: widths[Math.max(...ranks)] ?? 'unknown', isArray }
  return scalars.every((type) => type === first.scalar) ? first : { scalar: 'unknown', isArray }
}

/** The type of a sum; PostgreSQL's rule, which never overflows. */
export function sumType(type: ValueType): ValueType {
  if (type.scalar === 'int' || type.scalar === 'bool') return scalar('bigint')
  return type.scalar === 'bigint' ? scalar('numeric') : type
}

/**
 * The gate's knowledge of an expression's values. The engine's own types cannot tell bytes from text (both
 * are String) nor a truth value from a small number (both are UInt8), so both are inferred from the columns
 * used.
 */

import type { LogicalType } from '../../logicalType.ts'

/**
 * `numeric` is whole and at most 256 bits wide, `decimal` has digits behind the point; both are
 * PostgreSQL's numeric.
 */
export type Scalar = LogicalType | 'decimal' | 'interval' | 'uuid' | 'record' | 'null' | 'unknown'

export interface ValueType {
  readonly scalar: Scalar
  /** An array, at any depth, of the scalar. */
  readonly isArray: boolean
  /** Whole numbers alone: never below zero. Absent where that is not known. */
  readonly isUnsigned?: true
  /** An `int` alone: PostgreSQL's smallint. */
  readonly isSmall?: true
  /**
   * Whole numbers alone: counted by a function that PostgreSQL does not have, and divided as this
   * engine divides.
   */
  readonly isOwn?: true
  /** An array alone: its elements are arrays. */
  readonly isNested?: true
  /**
   * An array alone: PostgreSQL's is NULL where this one has no element, since the engine has no
   * array that is NULL. What is asked of it, shown of it or ordered by it takes the empty one for NULL.
   */
  readonly isAbsentWhenEmpty?: true
  /**
   * Digits behind the point: of a decimal those it is stored with, of a whole number those it was
   * written with.
   */
  readonly scale?: number
  /** Times alone: what a clock in some zone shows, PostgreSQL's `timestamp` without a zone. */
  readonly isLocal?: true
  /** Bytes alone: how many every value has. */
  readonly width?: number
  /** The same of bytes that were put into a String: for refusals alone, since the engine pads them. */
  readonly chosenWidth?: number
  /**
   * Bytes alone: the engine holds them in a String; one of fixed length equals its beginning, where
   * zeros follow.
   */
  readonly isVarying?: true
}

export const scalar = (type: Scalar): ValueType => ({ scalar: type, isArray: false })
export const unsigned = (type: Scalar): ValueType => ({ ...scalar(type), isUnsigned: true })
export const scaled = (type: 'numeric' | 'decimal', scale: number): ValueType => ({ ...scalar(type), scale })
export const localTime: ValueType = { ...scalar('timestamp'), isLocal: true }
export const arrayOf = ({ isAbsentWhenEmpty: _, ...type }: ValueType): ValueType => ({
  ...type,
  isArray: true,
  ...(type.isArray && { isNested: true }),
})
export const elementOf = ({ isAbsentWhenEmpty: _, isNested, ...type }: ValueType): ValueType => ({
  ...type,
  isArray: isNested === true,
})
/** The array, where PostgreSQL has NULL for one without elements. */
export const absentWhenEmpty = (type: ValueType): ValueType =>
  type.isArray ? { ...type, isAbsentWhenEmpty: true } : type

const widths: readonly Scalar[] = ['bool', 'int', 'bigint', 'numeric', 'decimal', 'float']

/** The type that holds values of all: the widest number; bytes wherever bytes meet text. */
export function commonType(types: readonly ValueType[]): ValueType {
  const known = types.filter(({ scalar }) => scalar !== 'null')
  const [first] = known
  if (!first) return scalar('null')
  const scalars = known.map((type) => type.scalar)
  const isArray = first.isArray
  const absence = isArray && known.some(({ isAbsentWhenEmpty }) => isAbsentWhenEmpty) && absent
  if (scalars.includes('bytes')) return { scalar: 'bytes', isArray, ...commonWidth(known), ...absence }
  const ranks = scalars.map((type) => widths.indexOf(type))
  if (ranks.every((rank) => rank >= 0)) {
    const scale = Math.max(...known.map((type) => type.scale ?? 0))
    return {
      scalar: widths[Math.max(...ranks)] ?? 'unknown',
      isArray,
      ...(known.every(({ isUnsigned }) => isUnsigned) && { isUnsigned: true as const }),
      ...marksOf(known),
      ...(scale > 0 && { scale }),
      ...absence,
    }
  }
  if (!scalars.every((type) => type === first.scalar)) return { scalar: 'unknown', isArray }
  // A time beside a moment is one, as if its zone were UTC.
  const isMoment = first.isLocal && !known.every(({ isLocal }) => isLocal)
  return isMoment ? { scalar: 'timestamp', isArray } : { ...first, ...absence }
}

const absent = { isAbsentWhenEmpty: true } as const

/** The known marks of whole numbers made of these, beside their width and sign. */
export function marksOf(types: readonly ValueType[]): Pick<ValueType, 'isSmall' | 'isOwn'> {
  return {
    ...(types.every(({ isSmall }) => isSmall) && { isSmall: true as const }),
    ...(types.some(({ isOwn }) => isOwn) && { isOwn: true as const }),
  }
}

/** How many bytes every value has, wherever the engine holds them. */
export const knownWidth = ({ width, chosenWidth }: ValueType): number | undefined => width ?? chosenWidth

function commonWidth(types: readonly ValueType[]): Pick<ValueType, 'width' | 'chosenWidth' | 'isVarying'> {
  const [first] = types
  const width = first?.width
  const chosenWidth = first && knownWidth(first)
  return {
    ...(width !== undefined && types.every((type) => type.width === width) && { width }),
    ...(chosenWidth !== undefined &&
      types.every((type) => knownWidth(type) === chosenWidth) && { chosenWidth }),
    ...(types.every((type) => type.isVarying) && { isVarying: true as const }),
  }
}

export const varyingBytes: ValueType = { scalar: 'bytes', isArray: false, isVarying: true }
/** Bytes of a column in a String, which every value of the column fills. */
export const chosenBytes = (chosenWidth: number | undefined): ValueType => ({
  ...varyingBytes,
  ...(chosenWidth !== undefined && { chosenWidth }),
})

/** The type of a sum; PostgreSQL's rule, which never overflows. */
export function sumType(type: ValueType): ValueType {
  if (type.scalar === 'int' || type.scalar === 'bool') return scalar('bigint')
  return type.scalar === 'bigint' ? scalar('numeric') : type
}

/** Whether values of it can be added. */
export const isNumber = ({ scalar, isArray }: ValueType): boolean => !isArray && widths.includes(scalar)
/** Whether it is a day or a time. */
export const isMoment = ({ scalar, isArray }: ValueType): boolean =>
  !isArray && (scalar === 'timestamp' || scalar === 'date')
/** Whether it holds whole numbers only. */
export const isWhole = ({ scalar, isArray }: ValueType): boolean =>
  !isArray && ['bool', 'int', 'bigint', 'numeric'].includes(scalar)

/** Types a cast may name, in ClickHouse's spelling and in PostgreSQL's, and what they print as. */

import type { TypeName } from '../../parse/ast.ts'
import { arrayOf, localTime, type Scalar, scalar, scaled, type ValueType } from '../valueType.ts'

export interface CastType {
  /** The engine's type. */
  readonly sql: string
  readonly type: ValueType
  /** PostgreSQL's `numeric` without digits: any number as it is. */
  readonly isExact?: true
  /** Digits before the point, where they are declared. */
  readonly digitsMax?: number
}

const plain: Readonly<Record<string, readonly [sql: string, type: Scalar]>> = {
  int8: ['Int8', 'int'],
  int16: ['Int16', 'int'],
  int32: ['Int32', 'int'],
  int64: ['Int64', 'bigint'],
  int128: ['Int128', 'numeric'],
  int256: ['Int256', 'numeric'],
  uint8: ['UInt8', 'int'],
  uint16: ['UInt16', 'int'],
  uint32: ['UInt32', 'int'],
  uint64: ['UInt64', 'bigint'],
  uint128: ['UInt128', 'numeric'],
  uint256: ['UInt256', 'numeric'],
  smallint: ['Int16', 'int'],
  int2: ['Int16', 'int'],
  int: ['Int32', 'int'],
  integer: ['Int32', 'int'],
  int4: ['Int32', 'int'],
  bigint: ['Int64', 'bigint'],
  float32: ['Float32', 'float'],
  float64: ['Float64', 'float'],
  float8: ['Float64', 'float'],
  'double precision': ['Float64', 'float'],
  bool: ['Bool', 'bool'],
  boolean: ['Bool', 'bool'],
  string: ['String', 'text'],
  text: ['String', 'text'],
  varchar: ['String', 'text'],
  bytea: ['String', 'bytes'],
  date: ['Date32', 'date'],
  date32: ['Date32', 'date'],
  timestamp: ["DateTime64(6, 'UTC')", 'timestamp'],
  timestamptz: ["DateTime64(6, 'UTC')", 'timestamp'],
  datetime: ["DateTime('UTC')", 'timestamp'],
  jsonb: ['String', 'json'],
  uuid: ['UUID', 'uuid'],
}

/** PostgreSQL's int8 has 8 bytes, ClickHouse's Int8 has one: only the spelling tells them apart. */
const ambiguous: ReadonlySet<string> = new Set(['int8'])

/** Longest FixedString: as long as the longest padding the gate allows elsewhere. */
const FIXED_STRING_MAX = 4096

/** The type, or the reason why not. */
export function castType({ name, args }: TypeName): CastType | string {
  const key = name.toLowerCase()
  const known = plain[key]
  if (key === 'real' || key === 'float4')
    return 'seven digits are added and shown in another way by each engine; write float8'
  if (known && args.length === 0) {
    if (ambiguous.has(key) && name !== 'Int8')
      return 'int8 means 8 bytes in one engine and 8 bits in the other; write bigint or Int8'
    if (key === 'smallint' || key === 'int2')
      return { sql: known[0], type: { ...scalar(known[1]), isSmall: true } }
    return { sql: known[0], type: key === 'timestamp' ? localTime : scalar(known[1]) }
  }
  const [first, second = 0] = args
  if (key === 'fixedstring') return fixedString(args)
  if ((key === 'decimal' || key === 'numeric') && args.length === 0)
    return { sql: 'Int256', type: scalar('numeric'), isExact: true }
  if ((key === 'decimal' || key === 'numeric') && args.length <= 2) return decimal(name, first, second)
  if (key === 'datetime64' && typeof first === 'number' && first <= 9 && args.length === 1) {
    return { sql: `DateTime64(${first}, 'UTC')`, type: scalar('timestamp') }
  }
  if ((key === 'nullable' || key === 'array') && args.length === 1 && typeof first === 'object') {
    return wrapped(key, castType(first))
  }
  return `the type ${name} is not allowed`
}

function fixedString(args: TypeName['args']): CastType | string {
  const [length] = args
  if (typeof length !== 'number' || args.length !== 1 || length < 1 || length > FIXED_STRING_MAX) {
    return `FixedString needs a length of 1 to ${FIXED_STRING_MAX}`
  }
  return { sql: `FixedString(${length})`, type: scalar('bytes') }
}

/** 256-bit whole numbers are Int256, since Decimal ends at 76 digits. */
function decimal(
  name: string,
  precision: TypeName['args'][number] | undefined,
  scale: TypeName['args'][number],
) {
  if (typeof precision !== 'number' || typeof scale !== 'number' || precision < 1 || scale > precision) {
    return `${name} needs its digits: ${name}(38, 2)`
  }
  const digitsMax = precision - scale
  if (scale === 0 && precision > 38)
    // Beyond that, the type's own width is the bound.
    return { sql: 'Int256', type: scalar('numeric'), ...(precision <= 76 && { digitsMax }) }
  return precision > 76
    ? `${name} has at most 76 digits`
    : { sql: `Decimal(${precision}, ${scale})`, type: scaled('decimal', scale), digitsMax }
}

function wrapped(wrapper: string, inner: CastType | string): CastType | string {
  if (typeof inner === 'string') return inner
  return wrapper === 'array'
    ? { sql: `Array(${inner.sql})`, type: arrayOf(inner.type) }
    : { sql: `Nullable(${inner.sql})`, type: inner.type }
}

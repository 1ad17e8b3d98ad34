import type { AbiType } from '#transform/abi/abiType.ts'
import type { LogicalType } from '../logicalType.ts'

/**
 * A value's type in a result. Both engines must hold it: Postgres has no unsigned integers, so an unsigned
 * type is one width further than its signed sister.
 */
export function logicalTypeOf(type: AbiType): LogicalType {
  switch (type.kind) {
    case 'uint':
    case 'int': {
      const signedBits = type.kind === 'int' ? type.bits : type.bits + 1
      return signedBits <= 32 ? 'int' : signedBits <= 64 ? 'bigint' : 'numeric'
    }
    case 'address':
    case 'fixedBytes':
    case 'bytes':
      return 'bytes'
    case 'string':
      return 'text'
    case 'bool':
      return 'bool'
    default:
      return 'json'
  }
}

/**
 * Names of types in casts: `Decimal(38, 2)`, `Nullable(String)`, `double precision`. What is
 * allowed, types.ts says.
 */

import type { TypeName } from './ast.ts'
import type { TokenReader } from './TokenReader.ts'

export function parseType(reader: TokenReader): TypeName {
  return reader.nested(() => {
    const { kind, text, at } = reader.peek()
    if (kind !== 'word') throw reader.unexpected('a type')
    reader.next()
    const name =
      text.toLowerCase() === 'double' && reader.acceptWords('PRECISION') ? 'double precision' : text
    if (!reader.acceptSymbol('(')) return suffixed(reader, { name, args: [], at })
    const args = reader.list(() => parseArgument(reader))
    reader.expectSymbol(')')
    return suffixed(reader, { name, args, at })
  })
}

/** PostgreSQL's `type[]`. */
function suffixed(reader: TokenReader, type: TypeName): TypeName {
  if (!reader.isSymbol('[') || !reader.isSymbol(']', 1)) return type
  reader.next()
  reader.next()
  return { name: 'Array', args: [type], at: type.at }
}

function parseArgument(reader: TokenReader): number | string | TypeName {
  const { kind, text } = reader.peek()
  if (kind === 'number') return reader.expectWholeNumber("a type's argument")
  if (kind !== 'string') return parseType(reader)
  reader.next()
  return text
}

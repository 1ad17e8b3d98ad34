/** `trim(both 'x' FROM y)`: PostgreSQL takes any of the characters away, the engine any of their bytes. */
import { type Compiled, invalid, quoteText } from '../Compiler.ts'
import { isMoment, isNumber, scalar, varyingBytes } from '../valueType.ts'
import type { PortableCall as Call } from './portableCall.ts'

export function trimmed({ compiler, call, rule, args }: Call): Compiled | undefined {
  const [value, characters] = args
  if (!value) throw invalid(compiler, `${call.name} takes a text`, call.at, "write trim(both 'x' FROM y)")
  if (value.type.isArray || isNumber(value.type) || isMoment(value.type))
    throw invalid(compiler, `${call.name} takes a text`, call.args[0]?.at ?? call.at, 'cast it: x::text')
  const given = call.args[1]
  if (!characters || given?.kind !== 'string') return undefined
  const isBytes = characters.type.scalar === 'bytes'
  if (isBytes && value.type.scalar !== 'bytes')
    throw invalid(
      compiler,
      'a text is trimmed of characters, not of bytes',
      given.at,
      "write the characters: trim(leading '0' FROM x)",
    )
  const type = isBytes ? varyingBytes : scalar('text')
  const isAscii = isBytes || /^\p{ASCII}*$/u.test(given.value)
  return {
    sql: isAscii
      ? `${rule.name}(${value.sql}, ${characters.sql})`
      : byPattern(rule.name, value.sql, given.value),
    type,
  }
}

function byPattern(name: string, text: string, characters: string): string {
  const some = `[${characters.replace(/[\\\]^[-]/g, '\\$&')}]+`
  const patterns = [
    ...(name === 'trimRight' ? [] : [`^${some}`]),
    ...(name === 'trimLeft' ? [] : [`${some}$`]),
  ]
  return patterns.reduce((rest, pattern) => `replaceRegexpOne(${rest}, ${quoteText(pattern)}, '')`, text)
}

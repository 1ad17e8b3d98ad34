/**
 * Bytes where text is meant: as '0x' and lowercase hex digits. The engine's functions of text would
 * take the bytes themselves for characters, and change or cut them without a word.
 */

import { isHexConstant } from '../../../text.ts'
import type { CallExpression, Expression } from '../../parse/ast.ts'
import { type Compiled, type Compiler, type NameScope, quoteText } from '../Compiler.ts'
import { scalar } from '../valueType.ts'
import { hexText } from './compileCast.ts'

/**
 * The arguments that are text, by the engine's name of the function. Functions that are missing here
 * (`substring`, `length`, `reverse`, hashes) count and take bytes, as on Postgres.
 */
const textArguments: ReadonlyMap<string, readonly number[] | 'all'> = new Map(
  Object.entries({
    lower: [0],
    upper: [0],
    lowerUTF8: [0],
    upperUTF8: [0],
    lengthUTF8: [0],
    left: [0],
    right: [0],
    replaceAll: [0, 1, 2],
    leftPad: [0],
    rightPad: [0],
    startsWith: [0, 1],
    endsWith: [0, 1],
    match: [0, 1],
    countSubstrings: [0, 1],
    positionCaseInsensitive: [0, 1],
    splitByChar: [0, 1],
    splitByString: [0, 1],
    concat: 'all',
    concatWithSeparator: 'all',
    arrayStringConcat: 'all',
  }),
)

/** Arguments of a call, compiled; those that are text as text. */
export function compileTextArguments(
  compiler: Compiler,
  call: CallExpression,
  name: string,
  scope: NameScope,
): Compiled[] | undefined {
  const places = textPlaces(call, name)
  if (!places) return undefined
  const isText = (index: number) => places === 'all' || places.includes(index)
  const values = call.args.map((argument, index) =>
    isText(index) && argument.kind === 'string' ? undefined : compiler.expression(argument, scope),
  )
  const isBytes = values.some((value) => value?.type.scalar === 'bytes')
  return call.args.map((argument, index) => {
    const value = values[index]
    if (!value) return constantText(argument, isBytes)
    return isText(index) ? asText(value) : value
  })
}

function textPlaces(call: CallExpression, name: string): readonly number[] | 'all' | undefined {
  // Bytes are trimmed of bytes, '0x00'; of other characters their text is.
  if (name.startsWith('trim')) return isBytesConstant(call.args[1]) ? undefined : [0, 1]
  if (name !== 'position' && name !== 'locate') return textArguments.get(name)
  // PostgreSQL's strpos is of text; position counts bytes, unless what it looks for is no '0x…'.
  const isPlain = call.args.some((argument) => argument.kind === 'string' && !/^[0\\]x/.test(argument.value))
  return call.name.toLowerCase() === 'strpos' || isPlain ? 'all' : undefined
}

const isBytesConstant = (argument: Expression | undefined): boolean =>
  argument?.kind === 'string' && isHexConstant(argument.value)

/** Letters that could be digits of bytes are in lowercase, as their text is. */
function constantText(argument: Expression, isBesideBytes: boolean): Compiled {
  const text = argument.kind === 'string' ? argument.value : ''
  const isHexPart = isBesideBytes && /^(0[xX])?[0-9a-fA-F]*$/.test(text)
  return { sql: quoteText(isHexPart ? text.toLowerCase() : text), type: scalar('text') }
}

function asText(value: Compiled): Compiled {
  const { sql, type } = value
  if (type.scalar !== 'bytes') return value
  return type.isArray
    ? { sql: `arrayMap(b -> ${hexText('b')}, ${sql})`, type: { scalar: 'text', isArray: true } }
    : { sql: hexText(sql), type: scalar('text') }
}

/**
 * Signatures of events and functions, as users and configuration write them:
 *
 *     Transfer(address indexed from, address indexed to, uint256 amount)
 *     event Swap(address indexed, uint256[2] amounts, (address token, bytes data)[] hops) as swaps
 *     function transfer(address to, uint256 amount)
 *
 * A strict reader of our own: the libraries' keep every parameter they ever saw, and users may send
 * any number of them.
 */

import { failure } from '#errors.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import {
  type AbiComponent,
  type AbiType,
  canonicalType,
  elementaryType,
  headWords,
  sequenceType,
  tupleType,
} from './abiType.ts'
import { SignatureCursor } from './SignatureCursor.ts'

export interface Signature {
  readonly kind: 'event' | 'function'
  readonly name: string
  /** The table in FROM: the name, or what follows `as`. */
  readonly table: string
  readonly parameters: readonly SignatureParameter[]
  /** `Transfer(address,address,uint256)`. */
  readonly canonical: string
  /** Hash of `canonical`: 32 bytes for an event, the first 4 for a function. */
  readonly selector: `0x${string}`
  /** Whether it says which parameters are indexed: it begins with `event`, or one of them is. */
  readonly isDeclaration: boolean
}

export interface SignatureParameter extends AbiComponent {
  readonly isIndexed: boolean
}

/** For the reference of the API. */
export const signatureExample = 'Transfer(address indexed from, address indexed to, uint256 amount)'

/** The longest signature of a deployed contract we know has some 700 characters. */
export const SIGNATURE_CHARACTERS_MAX = 2_048
/** Solidity refuses functions beyond some 16 values on the stack; tuples hold more. */
const PARAMETERS_MAX = 64
/** Words of all values in place; a longer head would make the SQL of one column huge. */
const HEAD_WORDS_MAX = 1_024
/** Arrays within tuples within arrays. */
const TYPE_DEPTH_MAX = 8

/** @throws SignatureError */
export function parseSignature(text: string): Signature {
  if (text.length > SIGNATURE_CHARACTERS_MAX)
    throw new SignatureError(text, `it is longer than ${SIGNATURE_CHARACTERS_MAX} characters`)
  const cursor = new SignatureCursor(text, (problem) => new SignatureError(text, problem))
  const kind = cursor.acceptWord('function') ? 'function' : 'event'
  const saysEvent = kind === 'event' && cursor.acceptWord('event')
  const name = cursor.name('a name')
  const parameters = parseParameters(cursor, kind === 'event')
  if (kind === 'function') skipModifiers(cursor)
  if (cursor.acceptWord('anonymous')) throw cursor.problem('an anonymous event has no signature in its logs')
  const table = cursor.acceptWord('as') ? cursor.name('a name after `as`') : name
  cursor.accept(';')
  cursor.expectEnd()
  assertSize(cursor, parameters)
  const canonical = `${name}(${parameters.map(({ type }) => canonicalType(type)).join(',')})`
  const hash = keccak256Hex(Buffer.from(canonical))
  return {
    kind,
    name,
    table,
    parameters,
    canonical,
    selector: kind === 'event' ? hash : `0x${hash.slice(2, 10)}`,
    isDeclaration: saysEvent || parameters.some(({ isIndexed }) => isIndexed),
  }
}

function parseParameters(cursor: SignatureCursor, mayBeIndexed: boolean, depth = 0): SignatureParameter[] {
  const parameters: SignatureParameter[] = []
  cursor.expect('(')
  if (cursor.accept(')')) return parameters
  do {
    const type = parseType(cursor, depth)
    const isIndexed = mayBeIndexed && cursor.acceptWord('indexed')
    for (const word of ['calldata', 'memory', 'storage']) cursor.acceptWord(word)
    parameters.push({ type, isIndexed, name: cursor.acceptName() })
  } while (cursor.accept(','))
  cursor.expect(')')
  return parameters
}

function parseType(cursor: SignatureCursor, depth: number): AbiType {
  if (depth > TYPE_DEPTH_MAX) throw cursor.problem(`types are nested deeper than ${TYPE_DEPTH_MAX}`)
  let type = parseElement(cursor, depth)
  for (let suffixes = depth; cursor.accept('['); suffixes++) {
    if (suffixes > TYPE_DEPTH_MAX) throw cursor.problem(`types are nested deeper than ${TYPE_DEPTH_MAX}`)
    const length = cursor.acceptNumber()
    if (length === 0) throw cursor.problem('an array needs a length above 0')
    cursor.expect(']')
    type = sequenceType(type, length)
    if (type.words > HEAD_WORDS_MAX) throw cursor.problem('an array is too long')
  }
  return type
}

function parseElement(cursor: SignatureCursor, depth: number): AbiType {
  cursor.acceptWord('tuple')
  if (cursor.isAt('(')) {
    const components = parseParameters(cursor, false, depth + 1)
    if (components.length === 0) throw cursor.problem('a tuple needs components')
    return tupleType(components)
  }
  const name = cursor.name('a type')
  const type = elementaryType(name)
  if (!type) throw cursor.problem(`${name} is no ABI type`)
  if (name === 'address') cursor.acceptWord('payable')
  return type
}

/** `external view returns (bool)` says nothing of the call's input. */
function skipModifiers(cursor: SignatureCursor): void {
  while (
    ['external', 'public', 'payable', 'view', 'pure', 'nonpayable'].some((word) => cursor.acceptWord(word))
  );
  if (cursor.acceptWord('returns')) parseParameters(cursor, false)
}

function assertSize(cursor: SignatureCursor, parameters: readonly SignatureParameter[]): void {
  if (parameters.length > PARAMETERS_MAX)
    throw cursor.problem(`it has more than ${PARAMETERS_MAX} parameters`)
  if (parameters.filter(({ isIndexed }) => isIndexed).length > 3)
    throw cursor.problem('a log has room for 3 indexed parameters')
  if (headWords(parameters) > HEAD_WORDS_MAX) throw cursor.problem('its values are too large')
}

export const shortened = (text: string): string => (text.length > 120 ? `${text.slice(0, 117)}…` : text)

/** A signature names no event or function. The message is safe to show. */
export class SignatureError extends failure('SignatureError', 'signature_invalid', 'stop') {
  readonly hint: string

  constructor(text: string, problem: string, hint = `write it as in Solidity: ${signatureExample}`) {
    super(`the signature "${shortened(text)}" cannot be used: ${problem}`)
    this.hint = hint
  }
}

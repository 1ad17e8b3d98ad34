/**
 * Logs by the signature of their event: what is decoded of them, and filters on what was decoded.
 */
import { type Hex, hash as toHash } from '#primitives.ts'
import { abiEvent } from '#transform/abi/abiEvent.ts'
import { type AbiType, isHashedInTopic } from '#transform/abi/abiType.ts'
import {
  parseSignature,
  type Signature,
  SignatureError,
  type SignatureParameter,
} from '#transform/abi/signature.ts'
import { compileEventDecoder, type EventLog } from '#transform/events/eventDecoder.ts'
import { assertFilters } from './eventFilter.ts'
import {
  address,
  bytes,
  type Condition,
  FiltersError,
  hash,
  type Kind,
  oneOf,
  readCondition,
  type Value,
} from './operators.ts'

export interface ReadSignature {
  readonly name: string
  /** `Transfer(address,address,uint256)`. */
  readonly signature: string
  readonly topic0: string
  /** Arguments by name, as JSON has them; null for a log that is not of the event. */
  readonly decode: (log: EventLog) => Readonly<Record<string, unknown>> | null
  /** @throws FiltersError */
  readonly readArgs: (given: unknown) => readonly ArgCondition[]
}

export interface ArgCondition {
  readonly name: string
  readonly condition: Condition
  /** The topics that are wanted, if the argument is a topic. */
  readonly topic: { readonly index: number; readonly values: readonly string[] } | null
}

/** @throws FiltersError */
export function readSignatureFilter(given: unknown): ReadSignature {
  const path = ['signature']
  if (typeof given !== 'string') throw new FiltersError(path, 'is not a text')
  const parsed = parsedOf(given, path)
  const names = parsed.parameters.map(nameOf)
  if (new Set(names).size < names.length || names.includes('__proto__'))
    throw new FiltersError(path, 'names two parameters alike')
  const decoders = layoutsOf(parsed).map((parameters) => {
    const event = abiEvent({ name: parsed.name, parameters }, nameOf)
    return compileEventDecoder<Readonly<Record<string, unknown>>>(event, toHash(parsed.selector))
  })
  return {
    name: parsed.name,
    signature: parsed.canonical,
    topic0: parsed.selector,
    decode: (log) => {
      for (const decode of decoders) {
        const args = decode(log)
        if (args) return args
      }
      return null
    },
    readArgs: (args) => readArgs(parsed, names, args),
  }
}

function parsedOf(text: string, path: readonly string[]): Signature {
  try {
    const parsed = parseSignature(text)
    if (parsed.kind === 'event') return parsed
  } catch (error) {
    if (error instanceof SignatureError) throw new FiltersError(path, error.message)
    throw error
  }
  throw new FiltersError(path, 'is not an event')
}

/**
 * A signature that does not say which parameters are indexed decodes only logs that leave no choice: those
 * with none indexed, and those with all.
 */
function layoutsOf({ parameters, isDeclaration }: Signature): readonly (readonly SignatureParameter[])[] {
  if (isDeclaration) return [parameters]
  const all = parameters.map((parameter) => ({ ...parameter, isIndexed: true }))
  return parameters.length > 0 && parameters.length <= 3 ? [parameters, all] : [parameters]
}

/** A parameter without a name is called by its place. */
const nameOf = ({ name }: { readonly name: string | undefined }, index: number): string => name ?? `_${index}`

function readArgs(signature: Signature, names: readonly string[], given: unknown): ArgCondition[] {
  if (!signature.isDeclaration)
    throw new FiltersError(['signature'], 'does not say which parameters are indexed, which `args` need')
  return Object.entries(assertFilters(given)).map(([name, wanted]) => {
    const path = ['args', name.slice(0, 64)]
    const parameter = signature.parameters[names.indexOf(name)]
    if (!parameter) throw new FiltersError(path, 'is no parameter of the signature')
    const condition = readCondition(kindOf(parameter, path), wanted, path)
    return { name, condition, topic: topicOf(signature, parameter, condition) }
  })
}

function kindOf({ type, isIndexed }: SignatureParameter, path: readonly string[]): Kind {
  if (isIndexed && isHashedInTopic(type)) return hash
  switch (type.kind) {
    case 'uint':
    case 'int':
      return integer
    case 'address':
      return address
    case 'bool':
      return { ...oneOf('true', 'false'), read: (given) => oneOf('true', 'false').read(`${given}`, path) }
    case 'bytes':
    case 'fixedBytes':
      return bytes
    case 'string':
      return anyText
    default:
      throw new FiltersError(path, 'is a list or a tuple, which are not filtered by')
  }
}

/** Arguments of events, which may be negative: decimal, or a quantity. */
const integer: Kind = {
  isNumber: true,
  read: (given, path) => {
    const text = typeof given === 'number' && Number.isSafeInteger(given) ? `${given}` : given
    if (typeof text !== 'string' || !/^(0x[0-9a-fA-F]{1,64}|-?[0-9]{1,78})$/.test(text))
      throw new FiltersError(path, 'is neither a decimal integer nor 0x and hex characters')
    return BigInt(text)
  },
}

const TEXT_CHARACTERS_MAX = 1_024
const anyText: Kind = {
  isNumber: false,
  read: (given, path) => {
    if (typeof given !== 'string' || given.length > TEXT_CHARACTERS_MAX)
      throw new FiltersError(path, `is not a text of up to ${TEXT_CHARACTERS_MAX} characters`)
    return given.toLowerCase()
  },
}

function topicOf(
  { parameters }: Signature,
  parameter: SignatureParameter,
  { keys }: Condition,
): ArgCondition['topic'] {
  if (!keys || !parameter.isIndexed) return null
  const index = 1 + parameters.filter(({ isIndexed }) => isIndexed).indexOf(parameter)
  return { index, values: keys.map((key) => topicText(parameter.type, key)) }
}

const WORD_DIGITS = 64

/** The word that a value is as a topic. */
function topicText(type: AbiType, value: Value): Hex {
  if (typeof value === 'bigint')
    return `0x${BigInt.asUintN(256, value).toString(16).padStart(WORD_DIGITS, '0')}`
  if (type.kind === 'bool') return `0x${(value === 'true' ? '1' : '0').padStart(WORD_DIGITS, '0')}`
  const digits = value.slice(2)
  return `0x${type.kind === 'address' ? digits.padStart(WORD_DIGITS, '0') : digits.padEnd(WORD_DIGITS, '0')}`
}

/** A decoded value as filters compare it. */
export function comparable(value: unknown): readonly Value[] {
  if (typeof value === 'bigint') return [value]
  if (typeof value === 'number') return [BigInt(value)]
  return typeof value === 'string' || typeof value === 'boolean' ? [`${value}`.toLowerCase()] : []
}

/** A decoded value as JSON has it: integers as decimal texts. */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return `${value}`
  if (Array.isArray(value)) return value.map(jsonValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, jsonValue(inner)]))
}

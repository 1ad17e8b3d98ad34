/** Random logs of any event, encoded by viem, and viem's reading of a log in our words. */
import fc from 'fast-check'
import { type AbiEvent, type AbiParameter, decodeEventLog, encodeAbiParameters, toEventSelector } from 'viem'
import { type Hash, type Hex, hash } from '#primitives.ts'
import { textOfBytes } from '#transform/abi/argumentText.ts'
import { elementarySource } from '#transform/events/eventValue.ts'

export interface ArbitraryLog {
  readonly topics: readonly Hash[]
  readonly data: Hex
}

/** Well-formed logs of an event with arguments of every size. */
export function arbitraryLog(event: AbiEvent): fc.Arbitrary<ArbitraryLog> {
  return fc.tuple(...event.inputs.map(arbitraryValue)).map((values) => encodeLog(event, values))
}

/**
 * Logs that are nearly ones of the event: a word replaced, data cut off or longer, a topic missing
 * or too many. Some are still well-formed.
 */
export function arbitraryDamagedLog(event: AbiEvent): fc.Arbitrary<ArbitraryLog> {
  const word = fc.oneof(
    hexOf(64),
    fc.nat({ max: 0x200 }).map((size) => size.toString(16).padStart(64, '0')),
    fc.constantFrom('0'.repeat(64), 'f'.repeat(64), '0'.repeat(52) + 'f'.repeat(12)),
  )
  return fc
    .record({
      log: arbitraryLog(event),
      kind: fc.constantFrom('word', 'topic', 'cut', 'extend', 'dropTopic', 'addTopic'),
      word,
      position: fc.nat(),
    })
    .map(({ log, kind, word, position }) => damage(log, kind, word, position))
}

function damage({ topics, data }: ArbitraryLog, kind: string, word: string, position: number): ArbitraryLog {
  const words = Math.floor((data.length - 2) / 64)
  const at = 2 + (words === 0 ? 0 : position % words) * 64
  const topicAt = 1 + (topics.length > 1 ? position % (topics.length - 1) : 0)
  if (kind === 'word') return { topics, data: `0x${data.slice(2, at)}${word}${data.slice(at + 64)}` }
  if (kind === 'cut') return { topics, data: `0x${data.slice(2, at + (position % 33) * 2)}` }
  if (kind === 'extend') return { topics, data: `${data}${word.slice(0, 2 + (position % 32) * 2)}` }
  if (kind === 'dropTopic') return { topics: topics.slice(0, -1), data }
  if (kind === 'addTopic') return { topics: [...topics, hash(`0x${word}`)], data }
  return { topics: topics.map((topic, index) => (index === topicAt ? hash(`0x${word}`) : topic)), data }
}

/** viem's arguments of a log with lowercase addresses, or null when viem refuses it. */
export function decodeWithViem(event: AbiEvent, log: ArbitraryLog): unknown {
  const [topic0, ...topics] = log.topics
  if (topic0 !== toEventSelector(event)) return null
  const abi = { ...event, inputs: event.inputs.map(asBytes) }
  try {
    const { args } = decodeEventLog({
      abi: [abi],
      topics: [hash(toEventSelector(abi)), ...topics],
      data: log.data,
    })
    const values = Object.entries(args ?? {})
    return Object.fromEntries(values.map(([name, value]) => [name, ourWords(inputNamed(event, name), value)]))
  } catch {
    return null
  }
}

function inputNamed(event: AbiEvent, name: string): AbiParameter {
  const input = event.inputs.find((each) => each.name === name)
  if (input?.indexed === true && elementarySource(input.type) === null) return { type: 'bytes32' }
  return input ?? { type: 'unknown' }
}

/** The parameter with `bytes` for `string`, which viem would read with a loss. */
function asBytes<Parameter extends AbiParameter>(parameter: Parameter): Parameter {
  const type = parameter.type.replace(/^string/, 'bytes')
  if (!('components' in parameter)) return { ...parameter, type }
  return { ...parameter, type, components: parameter.components.map(asBytes) }
}

/** The values that viem read by `asBytes`: addresses in lower case, texts by our rule. */
function ourWords(parameter: AbiParameter, value: unknown): unknown {
  const array = /^(.*)\[\d*\]$/.exec(parameter.type)
  if (array && Array.isArray(value))
    return value.map((item) => ourWords({ ...parameter, type: array[1] ?? '' }, item))
  if (parameter.type === 'tuple' && 'components' in parameter) return ourTuple(parameter.components, value)
  if (typeof value !== 'string') return value
  if (parameter.type === 'string') return textOfBytes(Buffer.from(value.slice(2), 'hex'))
  return value.toLowerCase()
}

function ourTuple(components: readonly AbiParameter[], value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((part, index) => ourWords(components[index] ?? { type: '' }, part))
  const parts = Object.entries(value ?? {})
  return Object.fromEntries(
    parts.map(([key, part]) => [
      key,
      ourWords(components.find(({ name }) => name === key) ?? { type: '' }, part),
    ]),
  )
}

/** The log of an event with these arguments; a string is given as the hex of its bytes. */
export function encodeLog(event: AbiEvent, values: readonly unknown[]): ArbitraryLog {
  const pairs = event.inputs.map((input, index) => ({ input, value: values[index] }))
  const indexed = pairs.filter(({ input }) => input.indexed === true)
  const inData = pairs.filter(({ input }) => input.indexed !== true)
  const topics = indexed.map(({ input, value }) =>
    elementarySource(input.type) === null ? hash(String(value)) : hash(encodeAbiParameters([input], [value])),
  )
  const data = encodeAbiParameters(
    inData.map(({ input }) => asBytes(input)),
    inData.map(({ value }) => value),
  )
  return { topics: [hash(toEventSelector(event)), ...topics], data }
}

function arbitraryValue(
  parameter: AbiParameter & { readonly indexed?: boolean | undefined },
): fc.Arbitrary<unknown> {
  if (parameter.indexed === true && elementarySource(parameter.type) === null)
    return hexOf(64).map((digits) => `0x${digits}`)
  const [, element, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? []
  if (element !== undefined) {
    const value = arbitraryValue({ ...parameter, type: element })
    const bounds = length === '' ? { maxLength: 4 } : { minLength: Number(length), maxLength: Number(length) }
    return fc.array(value, bounds)
  }
  if (parameter.type === 'tuple') return arbitraryTuple(parameter)
  return arbitraryElementary(parameter.type)
}

function arbitraryTuple(parameter: AbiParameter): fc.Arbitrary<unknown> {
  const components = 'components' in parameter ? parameter.components : []
  const values = fc.tuple(...components.map(arbitraryValue))
  if (components.some(({ name }) => !name)) return values
  return values.map((parts) =>
    Object.fromEntries(parts.map((part, index) => [components[index]?.name, part])),
  )
}

function arbitraryElementary(type: string): fc.Arbitrary<unknown> {
  const [, kind, size = ''] = /^([a-z]+)(\d*)$/.exec(type) ?? []
  const bits = Number(size || 256)
  if (kind === 'address') return hexOf(40).map((digits) => `0x${digits}`)
  if (kind === 'bool') return fc.boolean()
  if (kind === 'string') return fc.oneof(anyText, anyHex).map((digits) => `0x${digits}`)
  if (kind === 'bytes') return (size === '' ? anyHex : hexOf(Number(size) * 2)).map((digits) => `0x${digits}`)
  const [min, max] = kind === 'uint' ? [0n, 2n ** BigInt(bits) - 1n] : signedRange(bits)
  return fc.bigInt({ min, max }).map((value) => (bits <= 48 ? Number(value) : value))
}

function signedRange(bits: number): readonly [bigint, bigint] {
  return [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
}

const byte = fc.nat({ max: 255 }).map((value) => value.toString(16).padStart(2, '0'))
const anyHex = fc.array(byte, { maxLength: 70 }).map((bytes) => bytes.join(''))
const anyText = fc.string({ unit: 'binary' }).map((text) => Buffer.from(text).toString('hex'))

function hexOf(digits: number): fc.Arbitrary<string> {
  return fc.array(byte, { minLength: digits / 2, maxLength: digits / 2 }).map((bytes) => bytes.join(''))
}

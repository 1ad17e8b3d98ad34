/**
 * Writes and compiles the decoder of one event. The source is unrolled from the parsed ABI: every
 * topic and every static word is checked and read at a constant place. Measured: 1.5M Transfers per
 * second, where viem's decodeEventLog gives 26k.
 *
 * It accepts exactly what a Solidity compiler can emit for the signature: right number of topics,
 * no dirty padding, no integer out of range, nothing cut off, and for events of fixed size nothing
 * behind the last word. Everything else is `null`: some other contract's log that happens to share
 * the topic.
 */
import type { AbiEvent, AbiParameter } from 'viem'
import type { Hash, Hex } from '#primitives.ts'
import { elementarySource, headDigits, headDigitsOf, valueReader, WORD_DIGITS } from './eventValue.ts'

/** The log that a decoder looks at. */
export interface EventLog {
  /** 0 to 4. */
  readonly topics: readonly Hash[]
  readonly data: Hex
}

export type EventDecoder<Args> = (log: EventLog) => Args | null

type AbiEventParameter = AbiEvent['inputs'][number]

/** @throws TypeError when a parameter has no name or a type events cannot have. */
export function compileEventDecoder<Args>(event: AbiEvent, topic0: Hash): EventDecoder<Args> {
  const indexed = event.inputs.filter((input) => input.indexed === true)
  const inData = event.inputs.filter((input) => input.indexed !== true)
  const readers = inData.map((input) => (elementarySource(input.type) === null ? valueReader(input) : null))
  const source = [
    `return function decode(log) {`,
    `  const { topics, data } = log`,
    `  if (topics.length !== ${indexed.length + 1} || topics[0] !== ${JSON.stringify(topic0)}) return null`,
    ...indexed.flatMap(readTopic),
    ...readData(inData),
    `  return { ${event.inputs.map((input) => propertyOf(input, indexed, inData)).join(', ')} }`,
    `}`,
  ].join('\n')
  return new Function('readers', source)(readers) as EventDecoder<Args>
}

/** Indexed values of dynamic type are in the topic as their hash, given as it is. */
function readTopic(input: AbiEventParameter, index: number): string[] {
  const source = elementarySource(input.type)
  const topic = `topics[${index + 1}]`
  if (source === null) return [`  const topic${index} = ${topic}`]
  return [
    `  if (!(${source.condition(topic, '2')})) return null`,
    `  const topic${index} = ${source.valueOfWord(topic)}`,
  ]
}

function readData(inputs: readonly AbiEventParameter[]): string[] {
  const start = '0x'.length
  const end = start + headDigitsOf(inputs)
  const isFixed = inputs.every((input) => elementarySource(input.type) !== null)
  const lines = [`  if (data.length ${isFixed ? '!==' : '<'} ${end}) return null`]
  // Each word can be visited once, and the heads read here are words too.
  if (!isFixed) lines.push(`  const budget = { left: (data.length - ${start}) / ${WORD_DIGITS} }`)
  let head = start
  for (const [index, input] of inputs.entries()) {
    lines.push(...readField(input, index, head, isFixed && inputs.length === 1))
    head += headDigits(input)
  }
  return lines
}

function readField(input: AbiParameter, index: number, head: number, isAlone: boolean): string[] {
  const source = elementarySource(input.type)
  if (source === null)
    return [
      `  const field${index} = readers[${index}](data, 2, ${head}, budget)`,
      `  if (field${index} === undefined) return null`,
    ]
  return [
    `  if (!(${source.condition('data', String(head))})) return null`,
    `  const field${index} = ${isAlone ? source.valueOfWord('data') : source.value('data', String(head))}`,
  ]
}

/**
 * Names are the only part of a signature that gets into the source, hence only plain identifiers
 * pass.
 */
const identifierPattern = /^[A-Za-z_]\w*$/

function propertyOf(
  input: AbiEventParameter,
  indexed: readonly AbiEventParameter[],
  inData: readonly AbiEventParameter[],
): string {
  const name = input.name ?? ''
  if (!identifierPattern.test(name) || name === '__proto__')
    throw new TypeError(`an event's parameters need plain names, not ${JSON.stringify(name)}`)
  const position = input.indexed === true ? indexed.indexOf(input) : inData.indexOf(input)
  return `${name}: ${input.indexed === true ? 'topic' : 'field'}${position}`
}

// Goal: an integer of a declared event is decoded exactly at every edge of its type, and is no value
// of it beyond; none of them ends what is made of the log.
// Method: generated from the declarations, so that a new event is drilled too: a log of each, in
// which each integer is each edge.
import fc from 'fast-check'
import { type AbiParameter, toEventSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { type Hash, hash } from '#primitives.ts'
import { listActivities } from '#transform/activities/listActivities.ts'
import * as addresses from '#transform/addresses.ts'
import type { ContractEvent, EmittedLog } from '#transform/events/event.ts'
import { compileEventDecoder } from '#transform/events/eventDecoder.ts'
import { headDigits, WORD_DIGITS } from '#transform/events/eventValue.ts'
import { decodeLog, events } from '#transform/events/index.ts'
import { signatureOf } from '../support/arbitraryEvent.ts'
import { arbitraryLog, decodeWithViem } from '../support/arbitraryLog.ts'
import { edgeLogs, nestedEvents } from '../support/edgeLogs.ts'
import { numberEdges } from './numberEdges.ts'

const places = Object.values(addresses).filter((value) => typeof value === 'string')
const edges = [...numberEdges, ...numberEdges.map((edge) => -edge), 2n ** 127n, 2n ** 128n - 1n]

describe.each(events.map((event) => [event.signature, event] as const))('%s', (_, event) => {
  test('integers are exact or none, at every edge', () => {
    const log = sampleOf(event)
    expect(event.decode(log)).not.toBeNull()
    for (const input of event.abi.inputs) {
      const range = rangeOf(input)
      for (const edge of range === null ? [] : edges) {
        const changed = withInteger(event, log, input, edge)
        const args = event.decode(changed)
        const read = range?.min === 0n ? BigInt.asUintN(256, edge) : BigInt.asIntN(256, edge)
        const expected = range && read >= range.min && read <= range.max ? read : null
        const decoded = args === null ? null : BigInt(Object(args)[input.name ?? ''])
        expect(decoded, `${input.name} = ${edge}`).toBe(expected)
        expect(() => listActivities(factsOf(changed), changed.address)).not.toThrow()
      }
    }
  })
})

/** A log of the event from where it may come. */
function sampleOf(event: ContractEvent): EmittedLog {
  const [sample] = fc.sample(arbitraryLog(event.abi), { numRuns: 1, seed: 4217 })
  const emitter = places.find((place) => event.isEmittedBy(place))
  if (!sample || !emitter) throw new Error(`${event.signature} is emitted by nobody`)
  return { ...sample, topics: sample.topics.map(hash), address: emitter }
}

/** The range of an integer type; null for other types. */
function rangeOf({ type }: AbiParameter): { readonly min: bigint; readonly max: bigint } | null {
  const [, kind, bits] = /^(u?int)(\d+)$/.exec(type) ?? []
  if (kind === undefined) return null
  const width = BigInt(bits ?? '')
  return kind === 'uint'
    ? { min: 0n, max: 2n ** width - 1n }
    : { min: -(2n ** (width - 1n)), max: 2n ** (width - 1n) - 1n }
}

/** The log with another word where the parameter stands. */
function withInteger(event: ContractEvent, log: EmittedLog, input: AbiParameter, value: bigint): EmittedLog {
  const word = BigInt.asUintN(256, value).toString(16).padStart(WORD_DIGITS, '0')
  const indexed = event.abi.inputs.filter((one) => one.indexed)
  const position = indexed.indexOf(input)
  if (position >= 0) {
    const topics = log.topics.map(
      (topic, index): Hash => (index === position + 1 ? hash(`0x${word}`) : topic),
    )
    return { ...log, topics }
  }
  const inData = event.abi.inputs.filter((one) => !one.indexed)
  const before = inData.slice(0, inData.indexOf(input))
  const at = before.reduce((sum, one) => sum + headDigits(one), '0x'.length)
  return {
    ...log,
    data: `${log.data.slice(0, at)}${word}${log.data.slice(at + WORD_DIGITS)}` as EmittedLog['data'],
  }
}

const factsOf = (log: EmittedLog) => ({
  block: { number: 1, timestampSeconds: 1 },
  txHash: hash(`0x${'1'.repeat(64)}`),
  ...({ from: log.address, to: null, contractAddress: null, status: 1, paid: 0n } as const),
  feePayer: null,
  feeLogIndex: null,
  logs: [{ ...log, logIndex: 0, isVirtualForward: false }],
})

const nested = [...events.map(({ abi }) => abi), ...nestedEvents].filter(({ inputs }) =>
  inputs.some(({ type }) => /^tuple|\]$/.test(type)),
)

test.each(nested.map((event) => [signatureOf(event), event] as const))(
  'integers in arrays and tuples are exact at every edge: %s',
  (_, event) => {
    const decode = compileEventDecoder(event, hash(toEventSelector(event)))
    const logs = edgeLogs(event)
    expect(logs.length).toBeGreaterThan(0)
    for (const log of logs) expect(decode(log)).toEqual(decodeWithViem(event, log))
  },
)

test('no log is another event’s at an edge', () => {
  for (const event of events) expect(decodeLog(sampleOf(event))?.event.topic0).toBe(event.topic0)
})

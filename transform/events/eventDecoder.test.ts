import fc from 'fast-check'
import { type AbiEvent, encodeAbiParameters, parseAbiItem, toEventSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { type Hex, hash } from '#primitives.ts'
import { arbitraryDamagedLog, arbitraryLog, decodeWithViem } from '#test/support/arbitraryLog.ts'
import { compileEventDecoder } from './eventDecoder.ts'

/** One of every kind of type and every way to nest them. */
const signatures = [
  'event Flat(address indexed a, uint256 b, bool c, bytes32 d, int256 e)',
  'event Narrow(uint8 a, uint48 b, uint56 c, int8 d, int24 e, int48 f, int56 g, int128 h, bytes1 i, bytes20 j)',
  'event NarrowTopics(int16 indexed a, bool indexed b, bytes4 indexed c)',
  'event HashedTopics(string indexed a, bytes indexed b, uint256[] indexed c)',
  'event HashedTuple((uint8 x, string y) indexed a)',
  'event Text(string a, bytes b, string c)',
  'event Lists(uint8[] a, address[] b, int16[3] c, bytes32[2][] d, string[] e, bytes[2] f)',
  'event Deep(uint8[][] a, string[][2] b, uint64[2][2] c)',
  'event Tuples((address owner, uint8 weight)[] a, (uint256 x, (bool y, string z) inner) b, (uint8 p, int8 q)[2] c)',
  'event Unnamed((uint8, string)[] a)',
  'event NoValues()',
]

describe.each(signatures)('the decoder of %s', (signature) => {
  const event = parse(signature)
  const decode = decoderOf(event)

  it('reads every well-formed log as viem reads it', () => {
    fc.assert(
      fc.property(arbitraryLog(event), (log) => {
        expect(decode(log)).toEqual(decodeWithViem(event, log))
      }),
    )
  })

  it('reads a damaged log as viem reads it or refuses it, and never throws', () => {
    fc.assert(
      fc.property(arbitraryDamagedLog(event), (log) => {
        const args = decode(log)
        if (args !== null) expect(args).toEqual(decodeWithViem(event, log))
      }),
    )
  })
})

describe('words the type cannot hold', () => {
  const ones = 'f'.repeat(64)
  it.each([
    ['address', '0'.repeat(23) + '1'.padEnd(41, '0')],
    ['bool', '2'.padStart(64, '0')],
    ['uint8', '100'.padStart(64, '0')],
    ['uint112', ones],
    ['uint160', ones],
    ['int24', '800000'.padStart(64, '0')],
    ['int24', `${'f'.repeat(58)}7fffff`],
    ['int128', `${'f'.repeat(32)}${'7'.padEnd(32, 'f')}`],
    ['bytes4', ones],
    ['string', ones],
    ['uint8[]', ones],
  ])('%s refuses %s', (type, word) => {
    const event = parse(`event Value(${type} value)`)
    expect(decoderOf(event)({ topics: [hash(toEventSelector(event))], data: `0x${word}` })).toBeNull()
  })

  it('refuses dirty bytes in topics too', () => {
    const event = parse('event Value(address indexed value)')
    const topics = [hash(toEventSelector(event)), hash(`0x${ones}`)]
    expect(decoderOf(event)({ topics, data: '0x' })).toBeNull()
  })
})

describe('length of data', () => {
  const event = parse('event Value(uint256 value)')
  const topics = [hash(toEventSelector(event))]
  const word = '0'.repeat(64)

  it('refuses data of fixed size that is longer or shorter by a byte', () => {
    expect(decoderOf(event)({ topics, data: `0x${word}` })).toEqual({ value: 0n })
    expect(decoderOf(event)({ topics, data: `0x${word}00` })).toBeNull()
    expect(decoderOf(event)({ topics, data: `0x${word.slice(2)}` })).toBeNull()
    expect(decoderOf(event)({ topics, data: '0x' })).toBeNull()
  })

  it('gives up on offsets that make the same data be read over and over', () => {
    const nested = parse('event Value(uint8[][][][][][] value)')
    const selector = [hash(toEventSelector(nested))]
    // Each word is the length 64 of a list and the offset of its elements' lists: 64^6 reads if one
    // follows them all.
    const size = (value: number) => value.toString(16).padStart(64, '0')
    const data: Hex = `0x${size(0x20)}${size(0x40).repeat(400)}`
    expect(decoderOf(nested)({ topics: selector, data })).toBeNull()
  })

  it('spells out NUL and invalid UTF-8 in text', () => {
    const text = parse('event Value(string value)')
    const data = encodeAbiParameters([{ type: 'bytes' }], ['0x4100ff42'])
    expect(decoderOf(text)({ topics: [hash(toEventSelector(text))], data })).toEqual({
      value: 'A\u{fffd}0x00ff42',
    })
  })
})

describe('signatures that cannot be decoded by name', () => {
  it.each(['event Value(uint256)', 'event Value(uint256 a, address)'])(
    '%s is refused at load',
    (signature) => {
      expect(() => decoderOf(parse(signature))).toThrow(TypeError)
    },
  )
})

function parse(signature: string): AbiEvent {
  return parseAbiItem(signature) as AbiEvent
}

function decoderOf(event: AbiEvent) {
  return compileEventDecoder(event, hash(toEventSelector(event)))
}

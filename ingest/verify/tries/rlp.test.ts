import fc from 'fast-check'
import { type Hex, toRlp } from 'viem'
import { describe, expect, it } from 'vitest'
import { type RlpItem, RlpWriter } from './rlp.ts'

function encode(item: RlpItem): string {
  const writer = new RlpWriter()
  writer.writeItem(item)
  return `0x${Buffer.from(writer.since(0)).toString('hex')}`
}

type Nested = Hex | readonly Nested[]

const { item } = fc.letrec<{ item: Nested }>((tie) => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 80 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
    fc.array(tie('item'), { maxLength: 9 }),
  ),
}))

describe('RlpWriter', () => {
  it.each([
    ['0x', '0x80'],
    [null, '0x80'],
    [undefined, '0x80'],
    ['0x0', '0x80'],
    ['0x00', '0x00'],
    ['0x7f', '0x7f'],
    ['0x80', '0x8180'],
    ['0xf', '0x0f'],
    ['0x400', '0x820400'],
    [Buffer.from('dog'), '0x83646f67'],
    [[Buffer.from('cat'), Buffer.from('dog')], '0xc88363617483646f67'],
    [[], '0xc0'],
    [[[], [[]], [[], [[]]]], '0xc7c0c1c0c3c0c1c0'],
    [Buffer.alloc(56, 'x'), `0xb838${'78'.repeat(56)}`],
  ] as const)('encodes %j as %s', (value, encoded) => {
    expect(encode(value)).toBe(encoded)
  })

  it('encodes any nesting as viem does', () => {
    fc.assert(fc.property(item, (value) => encode(value) === toRlp(value)))
  })

  it('keeps what is written when it has to grow', () => {
    const writer = new RlpWriter()
    const large = Buffer.alloc(300_000, 7)
    writer.writeItem('0xabcd')
    const mark = writer.written
    writer.writeList([large, large])
    expect(writer.since(mark)).toEqual(Buffer.from(toRlp([large, large], 'bytes')))
    writer.writeItem(`0x${'ab'.repeat(1_000_000)}`)
    writer.rewind(mark)
    expect(writer.since(0)).toEqual(Buffer.from([0x82, 0xab, 0xcd]))
  })
})

import { describe, expect, it } from 'vitest'
import { type RowBatch, readRows } from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import { arrayOf, type Scalar, scalar, type ValueType } from '../compile/valueType.ts'
import { splitType } from './columnReader.ts'
import { RowBinaryDecoder } from './RowBinaryDecoder.ts'

const text = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
const hex = (digits: string): Buffer => Buffer.from(digits, 'hex')
const answer = (type: string, ...values: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([1]), text('x'), text(type), ...values])
const rowsOf = (batch: RowBatch | null) => (batch ? readRows(batch) : [])
const values = (type: string, inferred: ValueType, ...bytes: Buffer[]) => {
  const decoder = new RowBinaryDecoder([inferred], 100)
  const rows = rowsOf(decoder.push(answer(type, ...bytes)))
  decoder.assertEnd()
  return [decoder.columnTypes?.[0], ...rows.map(([value]) => value)]
}
const known = (type: Scalar) => scalar(type)
const unknown = scalar('unknown')

describe('the value table on ClickHouse', () => {
  it.each<[string, ValueType, string, unknown[]]>([
    ['UInt8', unknown, 'ff', ['int', 255]],
    ['UInt8', known('bool'), '01', ['bool', true]],
    ['Int32', unknown, 'feffffff', ['int', -2]],
    ['UInt32', unknown, 'ffffffff', ['int', 4_294_967_295]],
    ['UInt64', unknown, 'ffffffffffffffff', ['bigint', '18446744073709551615']],
    ['UInt64', known('int'), '0500000000000000', ['int', 5]],
    ['UInt64', known('numeric'), '0500000000000000', ['numeric', '5']],
    ['Int64', unknown, 'ffffffffffffffff', ['bigint', '-1']],
    ['UInt256', unknown, 'ff'.repeat(32), ['numeric', String(2n ** 256n - 1n)]],
    ['Int256', unknown, 'ff'.repeat(32), ['numeric', '-1']],
    ['Decimal(9, 2)', unknown, '7bffffff', ['numeric', '-1.33']],
    ['Decimal(38, 0)', unknown, `05${'00'.repeat(15)}`, ['numeric', '5']],
    ['Float64', unknown, '000000000000f83f', ['float', 1.5]],
    ['Float64', unknown, '000000000000f07f', ['float', 'Infinity']],
    ['Bool', unknown, '00', ['bool', false]],
    ['FixedString(3)', unknown, '00ff61', ['bytes', '0x00ff61']],
    ['String', known('bytes'), '026100', ['bytes', '0x6100']],
    ['String', known('text'), '02c3a4', ['text', 'ä']],
    ['String', unknown, '02ff61', ['text', '0xff61']],
    ['LowCardinality(Nullable(String))', unknown, '000161', ['text', 'a']],
    ['Nullable(UInt8)', unknown, '01', ['int', null]],
    ['Date', unknown, '0100', ['date', '1970-01-02']],
    ['Date', known('timestamp'), '0100', ['timestamp', '1970-01-02T00:00:00Z']],
    ['Date32', unknown, 'ffffffff', ['date', '1969-12-31']],
    ["DateTime('UTC')", unknown, '01000000', ['timestamp', '1970-01-01T00:00:01Z']],
    ["DateTime64(3, 'UTC')", unknown, 'ffffffffffffffff', ['timestamp', '1969-12-31T23:59:59Z']],
    ['IntervalDay', unknown, '0200000000000000', ['interval', '2 days']],
    ['IntervalWeek', unknown, '0100000000000000', ['interval', '7 days']],
    ['IntervalMonth', unknown, '0e00000000000000', ['interval', '1 year 2 mons']],
    ['IntervalQuarter', unknown, '0100000000000000', ['interval', '3 mons']],
    ['IntervalYear', unknown, '0100000000000000', ['interval', '1 year']],
    ['IntervalMinute', unknown, '5a00000000000000', ['interval', '01:30:00']],
    ['IntervalSecond', unknown, 'a6ffffffffffffff', ['interval', '-00:01:30']],
    ['UUID', unknown, '000102030405060708090a0b0c0d0e0f', ['uuid', '07060504-0302-0100-0f0e-0d0c0b0a0908']],
    ["Enum8('in' = 1, 'out' = -1)", unknown, 'ff', ['text', 'out']],
    ['Array(UInt8)', arrayOf(known('int')), '020102', ['int[]', [1, 2]]],
    ['Array(Array(String))', arrayOf(known('bytes')), '0101016100', ['bytes[]', [['0x61']], []]],
    ['Tuple(a UInt8, `b c` Nullable(String))', unknown, '0501', ['record', [5, null]]],
  ])('%s', (type, inferred, bytes, wanted) => {
    expect(values(type, inferred, hex(bytes))).toEqual(wanted)
  })

  it('refuses a type it does not know and an answer that ends early', () => {
    expect(() => values('AggregateFunction(sum, UInt8)', unknown)).toThrow(UserQueryError)
    expect(() => values('UInt64', unknown, hex('01'))).toThrow('ClickHouse broke off its answer')
    expect(() => values('String', unknown, hex('ffffff7f'))).toThrow('a value is larger than')
  })

  it('reads an answer that comes byte by byte', () => {
    const decoder = new RowBinaryDecoder([known('text'), unknown], 100)
    const row = (value: string) => Buffer.concat([text(value), hex('01000000')])
    const bytes = Buffer.concat([
      Buffer.from([2]),
      ...['x', 'y', 'String', 'UInt32'].map(text),
      ...['', 'ab', 'c'].map(row),
    ])
    const rows = [...bytes].flatMap((byte) => rowsOf(decoder.push(Buffer.from([byte]))))
    expect(decoder.columnTypes).toEqual(['text', 'int'])
    expect(rows).toEqual([
      ['', 1],
      ['ab', 1],
      ['c', 1],
    ])
    expect(() => decoder.assertEnd()).not.toThrow()
    decoder.push(hex('05'))
    expect(() => decoder.assertEnd()).toThrow('ClickHouse broke off its answer')
  })

  it('reads nested type names', () => {
    expect(splitType("Tuple(Map(String, UInt8), Enum8('a, (b' = 1))")).toEqual({
      name: 'Tuple',
      args: ['Map(String, UInt8)', "Enum8('a, (b' = 1)"],
    })
  })
})

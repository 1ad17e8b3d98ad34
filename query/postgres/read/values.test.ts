import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { JsonRows } from '../../JsonRows.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import { columnReader } from './values.ts'

const { builtins } = pg.types
const read = (oid: number, text: string) => columnReader('x', oid).read(text)
const write = (oid: number, text: string) => {
  const rows = new JsonRows()
  rows.beginRow()
  columnReader('x', oid).write(rows, Buffer.from(`<${text}>`), 1, 1 + Buffer.byteLength(text))
  rows.endRow()
  return rows.take()?.json.toString()
}

describe('the value table on Postgres', () => {
  it.each([
    [builtins.INT2, '7', 7],
    [builtins.INT4, '-2147483648', -2_147_483_648],
    [builtins.INT8, '9223372036854775807', '9223372036854775807'],
    [builtins.NUMERIC, '0.10', '0.1'],
    [builtins.FLOAT8, '1.5', 1.5],
    [builtins.FLOAT8, 'NaN', 'NaN'],
    [builtins.FLOAT8, '-Infinity', '-Infinity'],
    [builtins.BOOL, 't', true],
    [builtins.BOOL, 'f', false],
    [builtins.BYTEA, '\\xdeadbeef', '0xdeadbeef'],
    [builtins.BYTEA, '\\x', '0x'],
    [builtins.TEXT, 'ä', 'ä'],
    [builtins.TIMESTAMPTZ, '2026-11-21 12:00:01.5+00', '2026-11-21T12:00:01Z'],
    [builtins.TIMESTAMP, '2026-11-21 12:00:01', '2026-11-21T12:00:01'],
    [builtins.TIMESTAMPTZ, 'infinity', 'infinity'],
    [builtins.DATE, '2026-11-21', '2026-11-21'],
    [builtins.INTERVAL, '1 day', '1 day'],
    [
      builtins.JSONB,
      '{"a": [1, 12345678901234567890, "x", null]}',
      { a: [1, '12345678901234567890', 'x', null] },
    ],
    [1016, '{1,NULL,3}', ['1', null, '3']],
    [1001, '{"\\\\xab",NULL}', ['0xab', null]],
    [1009, '{a,"b,\\"c\\"","NULL",{}}', ['a', 'b,"c"', 'NULL', []]],
    [
      1007,
      '{{1,2},{3,4}}',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [1007, '[0:1]={1,2}', [1, 2]],
    [1007, '{}', []],
  ])('type %i reads %s', (oid, text, value) => {
    expect(read(oid, text)).toEqual(value)
    expect(write(oid, text)).toBe(`${JSON.stringify([value])}\n`)
  })

  it('refuses types that have no place in it', () => {
    expect(() => columnReader('x', builtins.OID)).toThrow(UserQueryError)
    expect(() => columnReader('x', 2249)).toThrow('column "x" has a type that cannot be shown')
  })
})

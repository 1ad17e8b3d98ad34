import { expect, test } from 'vitest'
import * as p from './parameter.ts'

const mixed = `0xAbCd${'0'.repeat(35)}F`

const accepted: readonly [string, p.Parameter, string, unknown][] = [
  ['an address in any case, as lowercase', p.address, mixed, mixed.toLowerCase()],
  ['a hash', p.transactionHash, `0x${'Ab'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  [
    'a UUID in any case, as lowercase',
    p.uuid,
    '3D813CBB-47fb-42BA-91df-831E1593AC29',
    '3d813cbb-47fb-42ba-91df-831e1593ac29',
  ],
  ['a block number', p.blockNumber, '0', 0],
  ['a moment', p.timestamp, '2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
  ['a moment with a fraction', p.timestamp, '2026-01-31T12:00:00.25Z', Date.UTC(2026, 0, 31, 12, 0, 0, 250)],
  ['a moment with an offset', p.timestamp, '2026-01-31T12:00:00+02:00', Date.UTC(2026, 0, 31, 10)],
  [
    'an offset whose plus was not encoded',
    p.timestamp,
    '2026-01-31T12:00:00 02:00',
    Date.UTC(2026, 0, 31, 10),
  ],
  ['a leap day', p.timestamp, '2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
  ['true', p.boolean, 'true', true],
  ['false', p.boolean, 'false', false],
  ['an amount of 256 bits', p.amount, `${2n ** 256n - 1n}`, 2n ** 256n - 1n],
  ['the smallest of a range', p.integer(5, 200), '5', 5],
  ['the largest of a range', p.integer(5, 200), '200', 200],
  ['a negative number where the range has some', p.integer(-5, 5), '-5', -5],
  ['one of the words', p.oneOf('asc', 'desc'), 'asc', 'asc'],
  ['text', p.text(5), 'größe', 'größe'],
  ['text that matches', p.text(5, /^[A-Z]+$/), 'USD', 'USD'],
  ['the first of two kinds', p.either(p.address, p.text(64)), mixed, mixed.toLowerCase()],
  ['the second of two kinds', p.either(p.address, p.text(64)), 'pathUSD', 'pathUSD'],
]

test.each(accepted)('takes %s', (_title, parameter, text, value) => {
  expect(parameter.parse(text)).toEqual(value)
})

const refused: readonly [string, p.Parameter, string][] = [
  ['an address that is too short', p.address, '0x12'],
  ['an address without 0x', p.address, 'ab'.repeat(20)],
  ['an address with a space', p.address, ` ${mixed}`],
  ['an empty address', p.address, ''],
  ['a hash for an address', p.address, `0x${'ab'.repeat(32)}`],
  ['an address for a hash', p.transactionHash, mixed],
  ['a UUID without hyphens', p.uuid, '3d813cbb47fb42ba91df831e1593ac29'],
  ['a UUID in braces', p.uuid, '{3d813cbb-47fb-42ba-91df-831e1593ac29}'],
  ['a negative block', p.blockNumber, '-1'],
  ['a fractional block', p.blockNumber, '1.5'],
  ['a hexadecimal block', p.blockNumber, '0x10'],
  ['a block in exponent form', p.blockNumber, '1e3'],
  ['a block beyond safe integers', p.blockNumber, '9007199254740993'],
  ['a date without time', p.timestamp, '2026-01-31'],
  ['a moment without zone', p.timestamp, '2026-01-31T12:00:00'],
  ['a day that does not exist', p.timestamp, '2026-02-30T12:00:00Z'],
  ['29 February of a common year', p.timestamp, '2026-02-29T12:00:00Z'],
  ['an hour that does not exist', p.timestamp, '2026-01-31T25:00:00Z'],
  ['unix seconds', p.timestamp, '1769860800'],
  ['1 for true', p.boolean, '1'],
  ['TRUE', p.boolean, 'TRUE'],
  ['an empty boolean', p.boolean, ''],
  ['a negative amount', p.amount, '-1'],
  ['a number below its range', p.integer(5, 200), '4'],
  ['a number above its range', p.integer(5, 200), '201'],
  ['a number with a sign', p.integer(5, 200), '+10'],
  ['another word', p.oneOf('asc', 'desc'), 'ASC'],
  ['an inherited word', p.oneOf('asc', 'desc'), 'constructor'],
  ['text with NUL', p.text(5), 'a\0b'],
  ['text that is too long', p.text(5), 'abcdef'],
  ['text that does not match', p.text(5, /^[A-Z]+$/), 'usd'],
  ['what neither of two kinds takes', p.either(p.address, p.text(4)), 'pathUSD'],
]

test.each(refused)('refuses %s', (_title, parameter, text) => {
  expect(() => parameter.parse(text)).toThrow(p.ParameterError)
})

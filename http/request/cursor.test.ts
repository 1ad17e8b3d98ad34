import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cursor, CursorKeys, type CursorScope } from './cursor.ts'

const scope: CursorScope = {
  route: '/v1/transfers',
  version: 1,
  chainId: 4217,
  order: 'desc',
  filters: { token: '0xaa', sender: undefined, amount: 5n },
  owner: null,
}
const cursor: Cursor = {
  position: [23_456_789, 0, 'text', 2n ** 255n],
  passed: { number: 23_456_790, hash: `0x${'ab'.repeat(32)}` },
}
const keys = new CursorKeys([randomBytes(32)])

test('what was sealed opens again, whatever the values', () => {
  const value = fc.oneof(fc.maxSafeInteger(), fc.string(), fc.bigInt())
  const mark = fc.option(fc.record({ number: fc.maxSafeNat(), hash: fc.string() }))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), mark, (position, passed) => {
      const sealed: Cursor = { position, passed }
      expect(keys.open(keys.seal(sealed, scope), scope)).toEqual(sealed)
    }),
  )
})

test('the same page has the same cursor, and another page another', () => {
  expect(keys.seal(cursor, scope)).toBe(keys.seal(cursor, scope))
  const others = [
    keys.seal({ ...cursor, position: [1] }, scope),
    keys.seal(cursor, { ...scope, order: 'asc' }),
    new CursorKeys([randomBytes(32)]).seal(cursor, scope),
  ]
  expect(new Set([keys.seal(cursor, scope), ...others]).size).toBe(4)
})

test('the order in which filters are written does not matter', () => {
  const reordered = { ...scope, filters: { amount: 5n, token: '0xaa' } }
  expect(keys.open(keys.seal(cursor, scope), reordered)).toEqual(cursor)
})

const foreign: readonly [string, Partial<CursorScope>][] = [
  ['route', { route: '/v1/receipts' }],
  ['version', { version: 2 }],
  ['chain', { chainId: 42_431 }],
  ['order', { order: 'asc' }],
  ['filter value', { filters: { token: '0xab', amount: 5n } }],
  ['set of filters', { filters: { token: '0xaa' } }],
  ['filter of the same text but another type', { filters: { token: '0xaa', amount: '5' } }],
  ['owner', { owner: 'key_1' }],
]

test.each(foreign)('a cursor does not open under another %s', (_title, other) => {
  expect(keys.open(keys.seal(cursor, scope), { ...scope, ...other })).toBeNull()
})

test('of 10,000 cursors with one flipped bit none opens', () => {
  const sealed = Buffer.from(keys.seal(cursor, scope), 'base64url')
  fc.assert(
    fc.property(fc.nat(sealed.length * 8 - 1), (bit) => {
      const forged = Buffer.from(sealed)
      forged[bit >> 3] = (forged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(keys.open(forged.toString('base64url'), scope)).toBeNull()
    }),
    { numRuns: 10_000 },
  )
})

test('no other text opens: changed, cut or longer ones, spare bits of base64 included', () => {
  const text = keys.seal(cursor, scope)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .'
  for (let i = 0; i < text.length; i++) {
    expect(keys.open(text.slice(0, i), scope)).toBeNull()
    for (const char of alphabet) {
      const changed = text.slice(0, i) + char + text.slice(i + 1)
      if (changed !== text) expect(keys.open(changed, scope)).toBeNull()
    }
  }
  for (const longer of [`${text}A`, `${text}=`, ` ${text}`, text + text])
    expect(keys.open(longer, scope)).toBeNull()
})

test.each(['', 'zz', 'WzIzNDU2Nzg5LDBd', '\0', '💥', 'A'.repeat(100_000)])('%j does not open', (text) => {
  expect(keys.open(text, scope)).toBeNull()
})

test('a new key seals, the old one still opens until it is taken away', () => {
  const [before, after] = [randomBytes(32), randomBytes(32)]
  const issued = new CursorKeys([before]).seal(cursor, scope)
  const rotated = new CursorKeys([after, before])
  expect(rotated.open(issued, scope)).toEqual(cursor)
  expect(new CursorKeys([after]).open(issued, scope)).toBeNull()
  expect(new CursorKeys([after]).open(rotated.seal(cursor, scope), scope)).toEqual(cursor)
})

test('keys of another length are refused', () => {
  expect(() => new CursorKeys([randomBytes(16)])).toThrow(TypeError)
  expect(() => new CursorKeys([])).toThrow(TypeError)
})

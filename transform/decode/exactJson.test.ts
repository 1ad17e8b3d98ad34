import { expect, test } from 'vitest'
import { parseExact, stringifyExact } from './exactJson.ts'

test.each([
  '{"wei":12345678901234567890,"nested":[{"a":-12345678901234567890123}]}',
  '{"price":1.0,"tiny":1e-7,"huge":1E400,"list":[0.10,2]}',
  '{"plain":7,"text":"12345678901234567890","time":1769919438,"none":null}',
  '[18446744073709551615, 1]',
])('%s leaves as it came', (text) => {
  expect(JSON.stringify(parseExact(text))).toBe(text.replace(', ', ','))
})

test('numbers that a double gives back are numbers', () => {
  expect(parseExact('{"a":1,"b":9007199254740991,"c":0.5,"d":1e21}')).toMatchObject({
    a: 1,
    b: 9_007_199_254_740_991,
    c: 0.5,
  })
})

test('a bigint is put out with all its digits, and comes back as them', () => {
  const text = stringifyExact({ gas: 2n ** 63n - 1n, list: [1n, 'x', null] })
  expect(text).toBe('{"gas":9223372036854775807,"list":[1,"x",null]}')
  expect(stringifyExact(parseExact(text))).toBe(text)
})

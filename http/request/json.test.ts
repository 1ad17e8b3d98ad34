import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as s from '../schema.ts'
import { assertDepth, assertWellFormed, bodyCheck, isWellFormedJson } from './json.ts'

test('a body may be 64 levels deep and no deeper', () => {
  expect(() => assertDepth('['.repeat(64) + ']'.repeat(64))).not.toThrow()
  expect(() => assertDepth('{"a":'.repeat(65))).toThrow(/deeper than 64/)
})

test('brackets inside strings are text', () => {
  expect(() =>
    assertDepth(JSON.stringify({ a: '['.repeat(1_000), b: `"\\${'{'.repeat(100)}` })),
  ).not.toThrow()
})

test('any JSON of less depth passes', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 20 }), (text) => assertDepth(text)))
})

test.each([
  [String.raw`["\u0000"]`, false],
  [String.raw`{"\ud800": 1}`, false],
  [String.raw`["\uDC00"]`, false],
  [String.raw`["\ud83dx"]`, false],
  [String.raw`["\ud83d\ud83d\ude00"]`, false],
  [String.raw`["\ude00\ud83d"]`, false],
  [String.raw`["\\\u0000"]`, false],
  [String.raw`["\ud83d\ude00", "😀", "\u00e9\n"]`, true],
  [String.raw`["\\u0000", "\\\\ud800", "C:\\"]`, true],
])('text of %s is well-formed: %s', (text, isWellFormed) => expect(isWellFormedJson(text)).toBe(isWellFormed))

test('what is well-formed is what JavaScript takes for it', () => {
  const unit = fc.constantFrom('\\', 'u', '\ud83d', '\ude00', '\ud83d\ude00', 'a', '"', '0000', 'd800')
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join('')
      expect(isWellFormedJson(JSON.stringify(text))).toBe(text.isWellFormed())
    }),
  )
})

test.each([
  [String.raw`{"a": [{}, {"b": "\u0000"}]}`, ['body', 'a', 1, 'b']],
  [String.raw`{"a": {"\ud800": 1}}`, ['body', 'a']],
  [String.raw`{"a": "\ud800", "a": "b"}`, ['body']],
  [String.raw`{"a": "\u0000"`, ['body']],
])('the text in %s that is none is told at its place', (text, path) => {
  const details = [{ path, message: 'holds NUL or half a character' }]
  expect(() => assertWellFormed(text)).toThrow(expect.objectContaining({ code: 'body_invalid', details }))
})

const check = bodyCheck(
  s.object({
    eventType: s.text(),
    destination: s.object({ url: s.text({ maxLength: 10 }) }),
    tags: s.optional(s.array(s.text())),
  }),
)
const good = { eventType: 'x', destination: { url: 'u' } }

test('a body that fits passes', () => {
  expect(() => check(good)).not.toThrow()
})

test.each([
  ['missing', undefined, ['body']],
  ['not an object', 5, ['body']],
  ['without a required member', { destination: good.destination }, ['body', 'eventType']],
  ['wrong in depth', { ...good, destination: { url: 5 } }, ['body', 'destination', 'url']],
  ['too long in depth', { ...good, destination: { url: 'x'.repeat(11) } }, ['body', 'destination', 'url']],
  ['wrong in a list', { ...good, tags: ['a', 1] }, ['body', 'tags', 1]],
  ['with an unknown member', { ...good, extra: 1 }, ['body', 'extra']],
])('a body that is %s is refused, with the place', (_title, body, path) => {
  try {
    check(body)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({
      code: 'body_invalid',
      details: expect.arrayContaining([expect.objectContaining({ path })]),
    })
  }
})

import { expect, test } from 'vitest'
import { ApiError } from '../errors.ts'
import { bounds, findReversedRange, readBounds } from './bounds.ts'
import * as p from './parameter.ts'
import { parsePath, parseQuery, type RawQuery } from './query.ts'

const parameters = {
  address: p.address,
  limit: p.withDefault(p.integer(5, 200), 10),
  side: p.required(p.oneOf('bid', 'ask')),
  include: p.list(p.oneOf('memo', 'token'), 4),
}

test('values come out typed, defaults filled in', () => {
  expect(parseQuery({ side: 'bid' }, parameters)).toEqual({
    address: undefined,
    limit: 10,
    side: 'bid',
    include: undefined,
  })
})

test.each([
  ['a comma list', 'memo,token'],
  ['repeats', ['memo', 'token']],
  ['both', ['memo,token', 'memo']],
])('a list parameter takes %s', (_title, include) => {
  expect(new Set(parseQuery({ side: 'bid', include }, parameters).include)).toEqual(
    new Set(['memo', 'token']),
  )
})

const bad: readonly [string, RawQuery, (string | number)[]][] = [
  ['unknown', { side: 'bid', nonsense: '1' }, ['query', 'nonsense']],
  ['unknown although inherited', { side: 'bid', constructor: '1' }, ['query', 'constructor']],
  ['repeated', { side: ['bid', 'bid'] }, ['query', 'side']],
  ['missing', {}, ['query', 'side']],
  ['of the wrong form', { side: 'bid', address: '0x1' }, ['query', 'address']],
  ['text with NUL', { side: 'bid\0' }, ['query', 'side']],
  ['half a character', { side: '\ud800' }, ['query', 'side']],
  ['out of range', { side: 'bid', limit: '4' }, ['query', 'limit']],
  ['a list with an unknown word', { side: 'bid', include: 'memo,x' }, ['query', 'include']],
  ['a list that is empty', { side: 'bid', include: '' }, ['query', 'include']],
  ['a list that is too long', { side: 'bid', include: 'memo,memo,memo,memo,memo' }, ['query', 'include']],
]

test.each(bad)('a parameter that is %s is refused and named', (_title, query, path) => {
  const error = failureOf(() => parseQuery(query, parameters))
  expect(error).toMatchObject({ code: 'query_invalid', status: 400, details: [{ path }] })
})

test('all problems are told at once, but not without end', () => {
  const query = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x${i}`, '1']))
  expect(failureOf(() => parseQuery(query, parameters)).details).toHaveLength(20)
  expect(failureOf(() => parseQuery({ side: 'x', limit: '1' }, parameters)).details).toHaveLength(2)
})

test('a path parameter is refused under its own code', () => {
  const error = failureOf(() => parsePath({ token: '0x1' }, { token: p.token }))
  expect(error).toMatchObject({ code: 'token_invalid', details: [{ path: ['param', 'token'] }] })
})

test('bounds keep only what was given, fractions of seconds round inwards', () => {
  const query = { 'blockNumber.to': '9', 'timestamp.from': '2026-01-01T00:00:00.5Z' }
  expect(readBounds(parseQuery(query, bounds))).toEqual({
    blockNumberTo: 9,
    timestampSecondsFrom: Date.UTC(2026, 0, 1) / 1000 + 1,
  })
})

test('a range that ends before it begins is found, one of a single value is fine', () => {
  const reversed = parseQuery({ 'blockNumber.from': '9', 'blockNumber.to': '8' }, bounds)
  expect(findReversedRange(reversed)).toMatchObject({
    code: 'range_invalid',
    details: [{ path: ['query', 'blockNumber.from'] }],
  })
  const single = parseQuery({ 'blockNumber.from': '8', 'blockNumber.to': '8' }, bounds)
  expect(findReversedRange(single)).toBeUndefined()
})

function failureOf(act: () => unknown): ApiError {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

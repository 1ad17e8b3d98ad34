import { expect, test } from 'vitest'
import { parseLossless } from './lossless.ts'
import { InputUnresolvedError, resolveInput, valueAt } from './resolveInput.ts'

const outputs = new Map<string, unknown>([
  [
    'a',
    {
      items: [
        { name: 'x', n: 1 },
        { name: 'y', n: 2 },
      ],
      text: 'hello',
      'a/b': { '~': null },
    },
  ],
  ['b c', ['p', 'q']],
  ['trick', { path: 'flow://a/output#/text', $map: 'no' }],
])
const resolve = (input: unknown) => resolveInput(input, outputs)

test('references become values, wherever they stand', () => {
  expect(resolve({ t: 'flow://a/output#/text', deep: [{ n: 'flow://a/output#/items/1/n' }] })).toEqual({
    t: 'hello',
    deep: [{ n: 2 }],
  })
  expect(resolve('flow://b%20c/output')).toEqual(['p', 'q'])
  expect(resolve({ v: 'flow://a/output#/a~1b/~0' })).toEqual({ v: null })
  expect(resolve({ plain: 'flow of things', n: 1, b: false, z: null })).toEqual({
    ...{ plain: 'flow of things', n: 1, b: false, z: null },
  })
})

test('$map projects, $concat joins texts or arrays', () => {
  expect(resolve({ $map: { from: 'flow://a/output#/items', path: '/name' } })).toEqual(['x', 'y'])
  expect(resolve({ $concat: ['Say ', 'flow://a/output#/text', '!'] })).toBe('Say hello!')
  const names = { $map: { from: 'flow://a/output#/items', path: '/name' } }
  expect(resolve({ all: { $concat: [names, 'flow://b%20c/output', ['z']] } })).toEqual({
    all: ['x', 'y', 'p', 'q', 'z'],
  })
})

test('what an output says is data: no reference in it is followed', () => {
  expect(resolve('flow://trick/output')).toEqual({ path: 'flow://a/output#/text', $map: 'no' })
})

test('what is not there, or does not fit, is told', () => {
  for (const input of [
    'flow://a/output#/absent',
    'flow://unknown/output',
    'flow://a/output#/items/2',
    'flow://a/output#/items/01',
    'flow://a/output#/constructor',
    { $map: { from: 'flow://a/output#/text', path: '' } },
    { $map: { from: 'flow://a/output#/items', path: '/absent' } },
    { $concat: ['flow://a/output#/text', 'flow://b%20c/output'] },
  ])
    expect(() => resolve(input), JSON.stringify(input)).toThrow(InputUnresolvedError)
  expect(valueAt([1], '/length')).toBeUndefined()
})

test('an output that is taken a thousand times is no larger than an input may be', () => {
  const large = new Map([['big', 'x'.repeat(1_000_000)]])
  const input = Array.from({ length: 1_000 }, () => 'flow://big/output')
  expect(() => resolveInput(input, large)).toThrow(InputUnresolvedError)
  expect(resolveInput(input.slice(0, 4), large)).toHaveLength(4)
})

test('a number that no double holds takes as many bytes as it has digits', () => {
  const whole = `[${Array(4_000).fill('1'.repeat(900)).join(',')}]`
  const numbers = new Map([['a', parseLossless(whole)]])
  expect(JSON.stringify(resolveInput('flow://a/output', numbers)) === whole).toBe(true)
  expect(() => resolveInput(['flow://a/output', 'flow://a/output'], numbers)).toThrow(InputUnresolvedError)
})

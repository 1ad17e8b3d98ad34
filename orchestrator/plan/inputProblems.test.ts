// Goal: an input is checked against a stranger's schema in bounded work, whatever both of them are.
import { describe, expect, it } from 'vitest'
import { CheckBudget } from './checkSteps.ts'
import { inputProblems } from './inputProblems.ts'

const problemsOf = (schema: object, input: unknown, budget = new CheckBudget()) =>
  inputProblems({ schema, input, places: [], path: [], budget })
const text = (pattern: string) => ({ type: 'object', properties: { a: { type: 'string', pattern } } })

describe('patterns of strangers', () => {
  // The first ran for 50 seconds in JavaScript's engine.
  it.each([
    [`${'a?'.repeat(26)}a{26}$`, 'a'.repeat(53), 'a'.repeat(25)],
    ['^(a+)+$', 'a'.repeat(64), `${'a'.repeat(64)}!`],
    ['^(\\w+\\s?)*$', 'a b', `${'a'.repeat(64)}!`],
    ['^\\u0041+$', 'AA', 'B'],
  ])('%s is asked of the linear engine', (pattern, fits, differs) => {
    expect(problemsOf(text(pattern), { a: fits })).toEqual([])
    expect(problemsOf(text(pattern), { a: differs })).toEqual([
      { path: ['a'], message: `must be a text that fits the expression ${pattern}` },
    ])
  })

  it('refuse no blank that JavaScript knows and the engine does not', () => {
    expect(problemsOf(text('^\\s$'), { a: '\u00a0' })).toEqual([])
    expect(problemsOf(text('^\\s$'), { a: ' ' })).toEqual([])
    expect(problemsOf(text('^\\s$'), { a: 'x' })).toHaveLength(1)
  })

  it.each(['(?=b)', '(a)\\1', '^(a{1,30}){1,30}$'])('%s of an older catalog is not asked', (pattern) =>
    expect(problemsOf(text(pattern), { a: 'c' })).toEqual([]),
  )

  it('are words where they are no pattern', () =>
    expect(
      problemsOf({ properties: { pattern: { enum: [{ pattern: '(' }] } } }, { pattern: 1 }),
    ).toHaveLength(1))
})

describe('work of a check', () => {
  const numbers = { type: 'array', items: { type: 'number' } }

  it('is counted by what meets, not by what is large', () => {
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`m${i}`, numbers])),
    }
    expect(problemsOf(wide, { m1: ['x'] })).toHaveLength(1)
    expect(problemsOf(numbers, [...Array(20_000).keys(), 'x'])).toHaveLength(1)
  })

  it.each([
    ['more items', numbers, [...Array(40_000).keys(), 'x']],
    ['unions met by items', { items: { anyOf: Array(100).fill({ type: 'string' }) } }, Array(1_000).fill(1)],
    ['long enums met by items', { items: { enum: [...Array(5_000).keys()] } }, Array(10).fill('x')],
    [
      'names looked for among many',
      {
        properties: Object.fromEntries([...Array(200).keys()].map((i) => [`m${i}`, {}])),
        additionalProperties: false,
      },
      Object.fromEntries([...Array(200).keys()].map((i) => [`x${i}`, 1])),
    ],
    ['a long text for a large pattern', text('^(a{1,15}){1,15}$'), { a: 'b'.repeat(1_000) }],
  ])('than a plan may take is not begun: %s', (_, schema, input) =>
    expect(problemsOf(schema, input)).toEqual([]),
  )

  it('is one sum for all nodes of a plan', () => {
    const budget = new CheckBudget()
    const results = Array.from({ length: 5 }, () =>
      problemsOf(numbers, [...Array(9_000).keys(), 'x'], budget),
    )
    expect(results.map(({ length }) => length)).toEqual([1, 1, 1, 0, 0])
  })
})

import { Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { boundSchema } from './inputSchema.ts'

describe('a schema of a stranger', () => {
  it('keeps what says something of the form', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { $ref: '#/$defs/name' }, b: { type: 'array', items: { type: 'integer' } } },
      additionalProperties: false,
      $defs: { name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 } },
    }
    expect(boundSchema(schema)).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
        b: { type: 'array', items: { type: 'integer' } },
      },
      additionalProperties: false,
    })
  })

  it('loads nothing from elsewhere and ends where it refers to itself', () => {
    const remote = boundSchema({
      properties: { a: { $ref: 'https://evil.example/schema' }, b: { $ref: 'file:///etc' } },
    })
    expect(remote).toEqual({ properties: { a: true, b: true } })
    expect(JSON.stringify(boundSchema({ $ref: '#' }))).toBe('null')
    const tree = boundSchema({ type: 'object', properties: { child: { $ref: '#' } } })
    expect(Errors({ ...tree }, { child: { child: 3 } })[0]).toBe(false)
    const wide = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) }
    expect(boundSchema(wide)).toBe(null)
  })

  it.each([
    '^(a+)+$',
    '(a|a)*b',
    '\\1',
    '(?=a)',
    'a+b',
    '^a*b*$',
    `^${'a'.repeat(200)}`,
    '^a{1,99999}$',
    '[',
    'x{1000,}{5,}',
  ])('has no pattern as slow as %s', (pattern) =>
    expect(boundSchema({ type: 'string', pattern })).toEqual({ type: 'string' }),
  )

  it('makes no checker fail', () => {
    const odd = {
      type: 'strange',
      required: 'a',
      minLength: 'x',
      enum: 3,
      multipleOf: 0,
      properties: [],
      anyOf: {},
      uniqueItems: true,
      patternProperties: { '(a+)+': {} },
    }
    expect(boundSchema(odd)).toEqual({})
  })
})

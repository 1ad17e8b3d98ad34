import { Errors } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { boundSchema } from './inputSchema.ts'

const schemaOf = (schema: unknown) => boundSchema(schema).schema

describe('a schema of a stranger', () => {
  it('keeps what says something of the form', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { $ref: '#/$defs/name' }, b: { type: 'array', items: { type: 'integer' } } },
      additionalProperties: false,
      $defs: { name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 } },
    }
    expect(schemaOf(schema)).toEqual({
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
    const remote = schemaOf({
      properties: { a: { $ref: 'https://evil.example/schema' }, b: { $ref: 'file:///etc' } },
    })
    expect(remote).toEqual({ properties: { a: true, b: true } })
    expect(JSON.stringify(schemaOf({ $ref: '#' }))).toBe('null')
    const tree = schemaOf({ type: 'object', properties: { child: { $ref: '#' } } })
    expect(Errors({ ...tree }, { child: { child: 3 } })[0]).toBe(false)
    const wide = { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#' })) }
    expect(schemaOf(wide)).toBe(null)
  })

  it.each([
    '^(a+)+$',
    '(a|a)*b',
    `${'a?'.repeat(26)}a{26}$`,
    '^0x[0-9a-fA-F]{40}$',
    '^[^\\s@]+@[^\\s@]+\\.\\w{2,}$',
    '\\u0041(?<name>b)',
  ])('keeps the pattern %s, which a linear engine runs', (pattern) =>
    expect(boundSchema({ type: 'string', pattern })).toEqual({
      schema: { type: 'string', pattern },
      problems: [],
    }),
  )

  it.each([
    '(a)\\1',
    '(?=a)',
    '(?<!a)b',
    '[',
    '\\Qa\\E',
    '\\ud83d\\ude00',
    `^${'a'.repeat(200)}`,
    '^a{1,99999}$',
    '^(a{1,30}){1,30}$',
    'x{1000,}{5,}',
  ])('has no pattern %s, and says so', (pattern) => {
    const { schema, problems } = boundSchema({
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { pattern } },
    })
    expect(schema).toEqual({ properties: { a: {} } })
    expect(problems).toEqual([
      {
        path: ['properties', 'a', '$ref', 'pattern'],
        message: expect.stringContaining('no linear engine reads'),
      },
    ])
  })

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
    expect(schemaOf(odd)).toEqual({})
  })
})

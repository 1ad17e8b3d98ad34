// Goal: what `/openapi.json` says of the filters of each event type is what is taken, no more and no
// less (issue 17.1: field by field).
// Method: many values at every field, each asked of the schema and of the reader of filters.
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { endpoints } from '#api/routes/index.ts'
import { filterSchemas } from '#api/routes/webhooks/filterSchemas.ts'
import { openapiDocument } from '#http/document/openapi.ts'
import { eventTypes } from '#webhooks/events/index.ts'
import { FiltersError } from '#webhooks/filters/operators.ts'
import type { Json } from '../blackbox/apiDocument.ts'

const address = `0x${'aB'.repeat(20)}`
const hash = `0x${'0C'.repeat(32)}`
const plain = [address, hash, '0x7', '0x', '0xa9059cbb', '0xzz', '7', '', 'bid', 'success', 'reverted']
const others = [7, true, false, null, {}, [], ['0x7'], { to: address }, { to: { in: [address] } }, { to: 7 }]
const operators = ['eq', 'in', 'not', 'gt', 'lte', 'selector', 'startsWith', 'near']
const values: readonly unknown[] = [
  ...plain,
  ...others,
  ...operators.flatMap((name) => plain.map((value) => ({ [name]: value }))),
  ...plain.map((value) => ({ in: [value, value] })),
  ...plain.map((value) => ({ gte: value, lt: value, eq: value })),
  ...plain.map((value) => ({ eq: value, not: value })),
  { in: [] },
  { in: Array.from({ length: 64 }, () => address) },
  { in: Array.from({ length: 65 }, () => address) },
]

function isTaken(read: () => void): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof FiltersError) return false
    throw error
  }
}

for (const { type, filterForms, validate } of eventTypes)
  test(`the schema of the filters of ${type} takes what is taken`, () => {
    const schema = filterSchemas.get(type)
    const validator = Compile(schema ?? {})
    for (const field of [...Object.keys(filterForms), 'unknown']) {
      // The forms of a signature and its arguments are said in words.
      if (field === 'signature' || field === 'args') continue
      const told = values.map((value) => [field, value, validator.Check({ [field]: value })])
      const taken = values.map((value) => [field, value, isTaken(() => validate({ [field]: value }))])
      expect(told).toEqual(taken)
      if (field !== 'unknown') expect(taken.some(([, , is]) => is)).toBe(true)
    }
  })

test('bodies of subscriptions name the filters of their event type', () => {
  const { paths }: Json = openapiDocument(endpoints, [4217])
  const schemaOf = (path: string, method: string) =>
    paths[path][method].requestBody.content['application/json'].schema
  const made = schemaOf('/v1/webhooks', 'post').anyOf
  expect(made.map(({ properties }: Json) => properties.eventType.enum[0])).toEqual(
    eventTypes.map(({ type }) => type),
  )
  for (const { properties, required } of made) {
    expect(properties.filters.$ref).toMatch(/^#\/components\/schemas\/\w+Filters$/)
    expect(required.includes('filters')).toBe(properties.eventType.enum[0] === 'log:emitted')
  }
  const changed = schemaOf('/v1/webhooks/{id}', 'patch').properties.filters.anyOf
  expect(changed).toEqual(made.map(({ properties }: Json) => properties.filters))
})

import { expect, test } from 'vitest'
import * as s from '../schema.ts'
import { withoutNulls } from './absent.ts'

const schema = s.object({
  sql: s.text(),
  limit: s.optional(s.integer()),
  unset: s.optional(s.nullable(s.text())),
  input: s.optional(s.json('Anything.')),
  tools: s.optional(s.array(s.object({ id: s.text(), tags: s.optional(s.array(s.text())) }))),
  labels: s.optional(s.record(s.text())),
})

test.each([
  [{ sql: 'x', limit: null, tools: null, labels: null }, { sql: 'x' }],
  [{ tools: [{ id: 'a', tags: null }, null] }, { tools: [{ id: 'a' }, null] }],
  // Required members, unknown ones, and those that may be null.
  [
    { sql: null, other: null, unset: null, input: null },
    { sql: null, other: null, unset: null, input: null },
  ],
  [
    { input: { limit: null }, labels: { a: null } },
    { input: { limit: null }, labels: { a: null } },
  ],
  [null, null],
  [[{ limit: null }], [{ limit: null }]],
])('%j is read as %j', (given, read) => expect(withoutNulls(schema, given)).toEqual(read))

test('a member named as one of every object is like others', () => {
  const given = JSON.parse('{"__proto__": null, "constructor": null, "limit": null}')
  expect(Object.keys(Object(withoutNulls(schema, given)))).toEqual(['__proto__', 'constructor'])
})

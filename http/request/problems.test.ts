import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import * as s from '../schema.ts'
import { problemsOf, sentenceOf } from './problems.ts'

const tagged = s.union([
  s.object({ type: s.literal('url'), url: s.text() }),
  s.object({ type: s.literal('mail'), to: s.text(), from: s.optional(s.text()) }),
])
const schema = s.object({
  place: s.optional(tagged),
  limit: s.optional(s.integer({ minimum: 1, maximum: 9 })),
  mode: s.optional(s.oneOf(['fast', 'safe'])),
  chain: s.optional(s.union([s.oneOf(['main', 'test']), s.integer({ minimum: 1 })])),
  id: s.optional(s.text({ format: 'uuid' })),
  payer: s.optional(s.address),
  at: s.optional(s.timestamp),
  name: s.optional(s.text({ minLength: 1, maxLength: 3 })),
  names: s.optional(s.array(s.text({ maxLength: 3 }), { minItems: 1, maxItems: 2 })),
  labels: s.optional(
    s.shown({
      ...{ type: 'object', additionalProperties: s.text({ maxLength: 2 }), maxProperties: 2 },
      propertyNames: { type: 'string', pattern: '^a' },
    }),
  ),
})
const check = Compile(schema)
const told = (value: unknown) =>
  problemsOf(check.Errors(value), value).map(({ path, message }) => `${path.join('.')} ${message}`)

test.each([
  [5, ['body must be an object']],
  [null, ['body must be an object, not null']],
  [{ limit: '5' }, ['body.limit must be a whole number']],
  [{ limit: 0 }, ['body.limit must be at least 1']],
  [{ limit: 10 }, ['body.limit must be at most 9']],
  [{ mode: 'slow' }, ['body.mode must be one of fast, safe']],
  [{ mode: null }, ['body.mode must be one of fast, safe, not null']],
  [{ chain: true }, ['body.chain must be one of main, test or a whole number']],
  [{ chain: 0 }, ['body.chain must be one of main, test or at least 1']],
  [{ id: 'x' }, ['body.id must be a UUID']],
  [{ payer: '0x12' }, ['body.payer must be 0x and 40 hex characters, in lower case']],
  [{ at: 'now' }, ['body.at must be a moment such as 2026-01-31T12:00:00Z']],
  [{ name: '' }, ['body.name must be a text of at least 1 character']],
  [{ name: 'four' }, ['body.name must be a text of at most 3 characters']],
  [{ names: [] }, ['body.names must be a list of at least 1 entry']],
  [{ names: ['a', 5] }, ['body.names.1 must be a text']],
  [{ names: ['a', 'b', 'c'] }, ['body.names must be a list of at most 2 entries']],
  [{ nmae: 'a' }, ['body.nmae is an unknown member']],
  [{ labels: { ab: 'long' } }, ['body.labels.ab must be a text of at most 2 characters']],
  [{ labels: { b: 'x' } }, ['body.labels.b has a name that is not taken']],
  [{ place: 'here' }, ['body.place must be an object']],
  [{ place: { type: 'url' } }, ['body.place.url is required']],
  [{ place: { type: 'mail', to: 'a', url: 'b' } }, ['body.place.url is an unknown member']],
  [{ place: { type: 'fax' } }, ['body.place.type must be url or mail']],
])('%j is told by its place', (value, problems) => expect(told(value)).toEqual(problems))

test('a sentence names the first place, and counts the others', () => {
  const wrong = { limit: 0, mode: 'slow' }
  expect(sentenceOf(problemsOf(check.Errors(wrong), wrong, ['arguments']))).toBe(
    'Not valid: arguments.limit must be at least 1 (and 1 more, see details).',
  )
  expect(sentenceOf(problemsOf(check.Errors({ limit: 0 }), { limit: 0 }))).toBe(
    'Not valid: body.limit must be at least 1.',
  )
})

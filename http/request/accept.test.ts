import { expect, test } from 'vitest'
import { isTaken, wishesOf } from './accept.ts'

test.each([
  [undefined, true, true],
  ['', true, true],
  [' , ', true, true],
  ['*/*', true, true],
  ['*/*;q=0', false, false],
  ['text/html, *; q=.2', true, true],
  ['application/json', true, false],
  ['APPLICATION/JSON; charset=utf-8', true, false],
  ['application/json;profile="a,b;q=0";q=0.3', true, false],
  ['application/*;q=0.1', true, false],
  ['text/*', false, true],
  ['text/event-stream', false, true],
  ['application/json;q=0, */*', false, true],
  ['*/*;q=0.5, application/*;q=0', false, true],
  ['application/*;q=0, application/json', true, false],
  ['text/html, application/xhtml+xml', false, false],
  ['application/json-seq, application/problem+json', false, false],
  ['"', true, true],
])('Accept: %s takes JSON: %s, events: %s', (accept, json, events) => {
  expect([isTaken('application/json', accept), isTaken('text/event-stream', accept)]).toEqual([json, events])
})

test('wishes keep their order', () =>
  expect(wishesOf('text/csv;q=0.5, Application/JSON')).toEqual([
    { mediaType: 'text/csv', quality: 0.5 },
    { mediaType: 'application/json', quality: 1 },
  ]))

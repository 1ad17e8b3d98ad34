import { expect, test } from 'vitest'
import { pollPathOf, progressOf } from './completion.ts'
import { OutputRefusedError, outputOf } from './output.ts'

const text = (contentType: string, body: string | Buffer) => outputOf(contentType, Buffer.from(body)).text

test('JSON stays as it was written, numbers and order included', () => {
  const json = '{"b":1.10,"a":12345678901234567890}'
  expect(text('application/json', json)).toBe(json)
  expect(text('application/ld+json', json)).toBe(json)
  expect(text('text/plain', json)).toBe(json)
  expect(outputOf('application/json', Buffer.from('"é"'))).toMatchObject({ text: '"é"', bytes: 4 })
})

test('what is no JSON is a text, what is no text is base64', () => {
  expect(text('text/html', '<p>"hi"</p>')).toBe('"<p>\\"hi\\"</p>"')
  expect(text('application/json', '{broken')).toBe('"{broken"')
  expect(text('', '')).toBe('null')
  expect(text('image/png', Buffer.from([0x89, 0x50, 0xff]))).toBe(
    '{"contentType":"image/png","base64":"iVD/"}',
  )
})

test('JSON that harms its readers is refused', () => {
  expect(() => text('application/json', '['.repeat(65) + ']'.repeat(65))).toThrow(OutputRefusedError)
  expect(() => text('application/json', '{"a":"\\u0000"}')).toThrow(OutputRefusedError)
  expect(() => text('application/json', '{"a":"\\ud800"}')).toThrow(OutputRefusedError)
})

const completion = {
  method: 'GET',
  path: '/reports/:id',
  idPointer: '/id',
  statusPointer: '/status',
  successStatuses: ['done'],
  failureStatuses: ['failed', '500'],
  maxAttempts: 20,
  pollIntervalSeconds: 1,
} as const

const loose = { ...completion, successStatuses: ['done'], failureStatuses: ['failed', '500'] }

test('an id is one segment of the path, and nothing else', () => {
  expect(pollPathOf(loose, { id: 'a b?c#d' })).toBe('/reports/a%20b%3Fc%23d')
  expect(pollPathOf(loose, { id: 7 })).toBe('/reports/7')
  expect(pollPathOf(loose, { id: '$&' })).toBe('/reports/%24%26')
  for (const id of ['', '..', 'a/b', 'a\\b', 'x%2f', 'a\u0000', null, {}, 'x'.repeat(501)])
    expect(pollPathOf(loose, { id }), JSON.stringify(id)).toBeNull()
})

test('progress is what the status says', () => {
  expect(progressOf(loose, { status: 'done' })).toBe('done')
  expect(progressOf(loose, { status: 'failed' })).toBe('failed')
  expect(progressOf(loose, { status: 500 })).toBe('failed')
  expect(progressOf(loose, { status: 'sleeping' })).toBe('pending')
  expect(progressOf(loose, {})).toBe('pending')
})

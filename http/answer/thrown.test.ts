import { expect, test } from 'vitest'
import { MillraceError, type Remedy, SettingError } from '#errors.ts'
import { ApiError, errorCatalogue } from '../errors.ts'
import { apiErrorOf } from './thrown.ts'

class StoreError extends MillraceError {
  readonly code: string
  readonly remedy: Remedy

  constructor(code: string, remedy: Remedy) {
    super(`our words about ${code}`)
    this.code = code
    this.remedy = remedy
  }
}

const coded = (code: string) => Object.assign(new Error('driver text with secrets'), { code })

const cases: readonly [string, unknown, string][] = [
  [
    'one of ours with a code of the catalogue',
    new StoreError('store_rebuilding', 'retry'),
    'store_rebuilding',
  ],
  ['one of ours that may pass', new StoreError('postgres_unavailable', 'retry'), 'upstream_error'],
  ['one of ours that will not', new SettingError('X', 'wrong'), 'internal_error'],
  ['a refused connection', coded('ECONNREFUSED'), 'upstream_error'],
  [
    'a refused connection inside another error',
    new Error('x', { cause: coded('ECONNRESET') }),
    'upstream_error',
  ],
  ['an undici timeout', coded('UND_ERR_HEADERS_TIMEOUT'), 'upstream_error'],
  ['a database that shuts down', coded('57P01'), 'upstream_error'],
  ['a database that is full', coded('53300'), 'upstream_error'],
  ['a mistake in our SQL', coded('42601'), 'internal_error'],
  ['a name that only looks inherited', coded('toString'), 'internal_error'],
  ['a string', 'text', 'internal_error'],
  ['nothing', undefined, 'internal_error'],
]

test.each(cases)('%s becomes the right answer', (_title, thrown, code) => {
  const error = apiErrorOf(thrown)
  expect(error.code).toBe(code)
  expect(error.message).not.toContain('secret')
})

test('causes that form a ring do not hang', () => {
  const ring = new Error('ring')
  ring.cause = ring
  expect(apiErrorOf(ring).code).toBe('internal_error')
})

test('every code has a status that is an error and a sentence', () => {
  for (const [code, { status, message }] of Object.entries(errorCatalogue)) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(message).toMatch(/\.$/)
    expect(new ApiError(code as keyof typeof errorCatalogue).status).toBe(status)
  }
})

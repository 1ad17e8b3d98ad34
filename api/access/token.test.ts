import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newToken, tokenKindOf } from './token.ts'

test('a token has the published form and tells its kind', () => {
  for (const kind of ['live', 'test', 'session'] as const) {
    const token = newToken(kind)
    expect(token).toMatch(/^svc_(live|test|session)_[0-9A-Za-z]{46}$/)
    expect(tokenKindOf(token)).toBe(kind)
  }
})

test('a token with any character changed is none', () => {
  const token = newToken('live')
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'a' ? 'b' : 'a'
    expect(tokenKindOf(token.slice(0, at) + other + token.slice(at + 1))).toBeNull()
  }
})

test('texts that look like tokens are not taken for ones', () => {
  const body = fc.stringMatching(/^[0-9A-Za-z]{46}$/)
  fc.assert(
    fc.property(fc.oneof(body, fc.string()), (text) => {
      expect(tokenKindOf(text)).toBeNull()
      expect(tokenKindOf(`svc_live_${text}`)).toBeNull()
    }),
  )
})

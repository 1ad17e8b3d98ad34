import { expect, test } from 'vitest'
import { entityTag, entityTagEncoded, matchesEntityTag } from './cache.ts'

const tag = entityTag('body')

test('the same bytes have the same strong tag, others another', () => {
  expect(tag).toMatch(/^"[\w-]+"$/)
  expect(entityTag(Buffer.from('body'))).toBe(tag)
  expect(entityTag('other')).not.toBe(tag)
})

test.each([
  ['itself', tag, true],
  ['its compressed form', entityTagEncoded(tag, 'gzip'), true],
  ['its weak form, as proxies make it', `W/${tag}`, true],
  ['a list that has it', `"x", ${tag} , "y"`, true],
  ['anything', '*', true],
  ['another tag', '"x"', false],
  ['nothing', '', false],
  ['an unquoted tag', tag.slice(1, -1), false],
])('If-None-Match with %s', (_title, header, matches) => {
  expect(matchesEntityTag(header, tag)).toBe(matches)
})

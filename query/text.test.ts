// Goal: a pattern means the same with one escape, whatever ESCAPE says; by PostgreSQL's rules.
import { expect, it } from 'vitest'
import { plainPattern } from './text.ts'

it.each([
  ['a%b_', undefined, 'a%b_'],
  ['a\\%b', undefined, 'a\\%b'],
  ['a\\zb', undefined, 'azb'],
  ['a\\\\b', undefined, 'a\\\\b'],
  ['a!%b', '!', 'a\\%b'],
  ['a!!%', '!', 'a!%'],
  ['a\\%', '!', 'a\\\\%'],
  ['a!\\b', '!', 'a\\\\b'],
  ['a%%b', '%', 'a\\%b'],
  ['a\\_', '', 'a\\\\_'],
  ['a\\', '', 'a\\\\'],
  ['', undefined, ''],
  ['a\\', undefined, undefined],
  ['a!', '!', undefined],
])('%s ESCAPE %s', (pattern, by, plain) => {
  expect(plainPattern(pattern, by)).toBe(plain)
})

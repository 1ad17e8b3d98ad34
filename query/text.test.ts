// Goal: a pattern means the same with one escape, whatever ESCAPE says, by PostgreSQL's rules; one
// that no bytes match is known.
import { expect, it } from 'vitest'
import { matchesNoBytes, plainPattern } from './text.ts'

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

it.each([
  ['20c0%', true],
  ['abc%', true],
  ['%xyz%', true],
  ['0x20g0%', true],
  ['0x\\_%', true],
  ['0', true],
  ['', true],
  ['0x20c0%', false],
  ['0X20C0%', false],
  ['%20c0%', false],
  ['%', false],
  ['_x20%', false],
  ['0x', false],
  ['0%', false],
  ['%0x%', false],
])('no bytes match %s: %s', (pattern, isNone) => {
  expect(matchesNoBytes(pattern)).toBe(isNone)
})

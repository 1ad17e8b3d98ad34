import { expect, test } from 'vitest'

import { nameOf, readTokens } from './sqlTokens.ts'

const texts = (sql: string) => [...readTokens(sql)].map((token) => token.text)

test('comments and white space are left out', () => {
  expect(texts('SELECT /* a ; b */ 1 -- two ;\n , 2 # three ;\n #! four\n')).toEqual([
    'SELECT',
    '1',
    ',',
    '2',
  ])
  expect(texts('SELECT 1 /* never closed ; DROP')).toEqual(['SELECT', '1'])
})

test('a string is one token, whatever is in it', () => {
  expect(texts(`'it''s' 'a\\'b' 'x;y'`)).toEqual([`'it''s'`, `'a\\'b'`, `'x;y'`])
  expect(texts('$tag$ a; $other$ b $tag$ c')).toEqual(['$tag$ a; $other$ b $tag$', 'c'])
  expect(texts(`'never closed ; x`)).toEqual([`'never closed ; x`])
})

test('quoted names are read as the names they stand for', () => {
  const [first, second, third] = [...readTokens('`a``b` "c\\"d" plain')]
  expect([nameOf(first), nameOf(second), nameOf(third)]).toEqual(['a`b', 'c"d', 'plain'])
})

test('depth counts what is open around a token', () => {
  const depths = [...readTokens('a (b [c] d) e')].map((token) => [token.text, token.depth])
  expect(depths).toEqual([
    ['a', 0],
    ['(', 0],
    ['b', 1],
    ['[', 1],
    ['c', 2],
    [']', 1],
    ['d', 1],
    [')', 0],
    ['e', 0],
  ])
})

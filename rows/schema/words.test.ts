import { expect, it } from 'vitest'
import { UnknownWordError, wordOf } from './words.ts'

it('gives a known word its type', () => {
  const word: 'queued' | 'paid' = wordOf(['queued', 'paid'], 'paid', 'a payout')
  expect(word).toBe('paid')
})

it('refuses any other, and names the row and the word', () => {
  for (const text of ['', 'Paid', 'toString'])
    expect(() => wordOf(['queued', 'paid'], text, 'a payout')).toThrow(UnknownWordError)
  expect(() => wordOf(['paid'], 'lost', 'a payout')).toThrow('a payout has the word lost')
})

// Goal: the pages speak in sentences that need no second reading.
// Method: count, over all of them, subjects without a noun ("what", "nobody"), and name each place.
import { expect, test } from 'vitest'
import { countProse, perThousand, proseOf, prosePages, readProse } from './support/prose.ts'

/** Per 1,000 words, as a bound that only falls; pages of projects like this one have 0.3 to 1.0. */
const NOUNLESS_MAX = 2

test('sentences of pages have nouns as subjects', () => {
  const pages = prosePages.map((file) => ({ file, ...readProse(file) }))
  const found = pages.flatMap(({ file, nounless }) => nounless.map((text) => `${file}: ${text}`))
  const words = pages.reduce((sum, page) => sum + page.words, 0)
  expect(perThousand(found.length, words), found.join('\n')).toBeLessThanOrEqual(NOUNLESS_MAX)
})

test('each kind is counted outside of code', () => {
  const page = [
    'What was paid is owed. If `nobody` asks, you keep it; a payer who asks is answered. [See](what.md).',
    '```\nif (nothing) none()\n```',
  ].join('\n')
  const { nounless, conditions, passives, reader } = countProse(proseOf(page))
  expect([nounless.length, conditions, passives.length, reader]).toEqual([1, 1, 3, 1])
})

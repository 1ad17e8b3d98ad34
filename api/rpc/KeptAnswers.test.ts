import { expect, test } from 'vitest'
import { KeptAnswers } from './KeptAnswers.ts'

test('what was used longest ago makes room, and long answers are not kept', () => {
  const kept = new KeptAnswers()
  const answer = `"${'x'.repeat(64_000)}"`
  kept.keep('first', '"1"')
  // 32 MiB are 524 of these.
  for (let index = 0; index < 600; index++) {
    kept.get('first')
    kept.keep(`k${index}`, answer)
  }
  expect(kept.get('first')).toBe('"1"')
  expect(kept.get('k0')).toBeUndefined()
  expect(kept.get('k599')).toBe(answer)
  kept.keep('long', `"${'x'.repeat(70_000)}"`)
  for (const [key, text] of [
    ['null', 'null'],
    ['list', '[]'],
  ] as const)
    kept.keep(key, text)
  for (const key of ['long', 'null', 'list']) expect(kept.get(key)).toBeUndefined()
})

import { expect, test } from 'vitest'
import { ANSWER_CHARACTERS_MAX, AnswerWriter, answered } from './answer.ts'

test('what does not fit into an answer any longer is told to be too much, the rest is there', () => {
  const writer = new AnswerWriter()
  const large = answered(`"${'x'.repeat(ANSWER_CHARACTERS_MAX / 2)}"`, 'node')
  for (const [id, outcome] of [large, large, answered('"0x1"', 'store')].entries())
    writer.add(String(id), outcome)
  const { text = '', source } = writer.end(true) ?? {}
  expect(text.length).toBeLessThan(ANSWER_CHARACTERS_MAX)
  expect(source).toBe('node')
  expect(JSON.parse(text)).toEqual([
    { jsonrpc: '2.0', id: 0, result: expect.any(String) },
    { jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'the answer is larger than 16777216 bytes' } },
    { jsonrpc: '2.0', id: 2, result: '0x1' },
  ])
})

import { expect, test } from 'vitest'
import { outcomeText, replayAsked, replayText } from './WebhookClient.ts'

test('a form asks for blocks, for failures since a moment, or for nothing', () => {
  expect(replayAsked('7', ' 12', '')).toEqual({ fromBlock: 7, toBlock: 12 })
  expect(replayAsked('', '', '2026-01-31T12:00Z')).toEqual({ failedSince: '2026-01-31T12:00:00.000Z' })
  for (const [from, to, since] of [
    ['7', '', ''],
    ['-1', '3', ''],
    ['a', 'b', 'c'],
  ] as const)
    expect(replayAsked(from, to, since)).toBeNull()
})

test('outcomes and replays are told in words', () => {
  expect(outcomeText({ delivered: true, responseStatus: 204 })).toBe('Taken with 204.')
  expect(outcomeText({ delivered: false, error: 'No.' })).toBe('No.')
  const replay = { id: 'whr_1', events: 3, openEvents: 1 } as const
  expect(replayText({ ...replay, status: 'matching', fromBlock: 1, toBlock: 9, nextBlock: 4 })).toBe(
    'matching: blocks 1 to 9, looked through below 4; 3 events, 1 open',
  )
  expect(replayText({ ...replay, status: 'finished', failedSince: 'noon' })).toBe(
    'finished: failures since noon; 3 events, 1 open',
  )
})

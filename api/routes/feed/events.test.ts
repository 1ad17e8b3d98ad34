// Goal: a range of the feed is told whole or refused, by its own reason.
import { expect, test } from 'vitest'
import { ApiError } from '#http/errors.ts'
import { feedRange } from './events.ts'

const mark = 20_000

test('a range holds 1,000 blocks before its last one unless it says so, and up to 10,000', () => {
  expect(feedRange({}, mark)).toEqual({ from: 19_000, to: mark })
  expect(feedRange({}, 400)).toEqual({ from: 0, to: 400 })
  expect(feedRange({ toBlock: 5_000 }, mark)).toEqual({ from: 4_000, to: 5_000 })
  expect(feedRange({ fromBlock: 10_000 }, mark)).toEqual({ from: 10_000, to: mark })
  expect(feedRange({ fromBlock: 7, toBlock: 10_007 }, mark)).toEqual({ from: 7, to: 10_007 })
})

test.each([
  [{ fromBlock: 7, toBlock: 10_008 }, 400, 'query_invalid', 'fromBlock', '10000'],
  [{ fromBlock: 9_999 }, 400, 'query_invalid', 'fromBlock', '10000'],
  [{ toBlock: mark + 1 }, 400, 'query_invalid', 'toBlock', '20000'],
  [{ fromBlock: 9, toBlock: 8 }, 422, 'range_invalid', 'fromBlock', 'toBlock'],
  [{ fromBlock: mark + 1 }, 422, 'range_invalid', 'fromBlock', '20000'],
])('%o is a %i', (filters, status, code, name, said) => {
  try {
    feedRange(filters, mark)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect([error.status, error.code]).toEqual([status, code])
    expect(error.details).toEqual([{ path: ['query', name], message: expect.stringContaining(said) }])
    return
  }
  expect.fail('it was not refused')
})

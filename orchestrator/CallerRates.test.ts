import { describe, expect, it } from 'vitest'
import { ApiError } from '#api/http/errors.ts'
import { CallerRates } from './CallerRates.ts'

let nowMs = 0
const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }

/** Seconds after which a caller may come again; null where it may now. */
function refusal(rates: CallerRates, caller: string, units = 1): string | null {
  try {
    rates.take(caller, units)
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.code).toBe('rate_limit_exceeded')
    return String(error.headers?.['Retry-After'])
  }
}

describe('what a caller may ask for in a minute', () => {
  it('is its own, and is told with the rest of the minute', () => {
    nowMs = 1_000
    const rates = new CallerRates(clock, 3)
    expect([1, 2, 3].map(() => refusal(rates, 'a'))).toEqual([null, null, null])
    expect(refusal(rates, 'a')).toBe('60')
    nowMs += 45_500
    expect(refusal(rates, 'a')).toBe('15')
    expect(refusal(rates, 'b')).toBeNull()
    nowMs += 14_500
    expect(refusal(rates, 'a')).toBeNull()
  })

  it('is taken whole or not at all', () => {
    const rates = new CallerRates(clock, 10)
    expect(refusal(rates, 'a', 8)).toBeNull()
    expect(refusal(rates, 'a', 3)).toBe('60')
    expect(refusal(rates, 'a', 2)).toBeNull()
  })

  it('is remembered of a bounded number of callers, who are not forgotten for new ones', () => {
    const rates = new CallerRates(clock, 1)
    for (let caller = 0; caller < 50_000; caller++) rates.take(`c${caller}`)
    expect(refusal(rates, 'new')).toBe('60')
    expect(refusal(rates, 'c0')).toBe('60')
    nowMs += 60_000
    expect(refusal(rates, 'new')).toBeNull()
  })
})

import { describe, expect, it } from 'vitest'
import { ATTEMPTS_MAX, retryInMs, retryWaitsMs } from './schedule.ts'

describe('the schedule of retries', () => {
  it('has eight attempts in 27 h 35 min 5 s, each wait within a fifth', () => {
    expect(ATTEMPTS_MAX).toBe(8)
    expect(retryWaitsMs.reduce((sum, wait) => sum + wait, 0)).toBe((27 * 3_600 + 35 * 60 + 5) * 1_000)
    for (const [index, wait] of retryWaitsMs.entries())
      for (const chance of [0, 0.25, 0.5, 0.999]) {
        const waited = retryInMs(index + 1, null, () => chance) ?? Number.NaN
        expect(waited).toBeGreaterThanOrEqual(wait * 0.8)
        expect(waited).toBeLessThanOrEqual(wait * 1.2)
      }
    expect(retryInMs(8, null, () => 0.5)).toBeNull()
    expect(retryInMs(8, 1_000, () => 0.5)).toBeNull()
  })

  it('waits as long as an endpoint asks, up to a day', () => {
    expect(retryInMs(1, 60_000, () => 0.5)).toBe(60_000)
    expect(retryInMs(3, 1_000, () => 0.5)).toBe(30 * 60_000)
    expect(retryInMs(1, 90 * 3_600_000, () => 0.5)).toBe(24 * 3_600_000)
  })
})

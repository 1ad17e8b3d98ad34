import { describe, expect, it } from 'vitest'
import type { Clock } from '#runtime.ts'
import { Slots } from './slots.ts'

/** A clock whose sleepers wake when told to. */
function handClock(): { clock: Clock; wake: () => void } {
  const sleepers = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.add(resolve)
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
  }
  const wake = () => {
    for (const resolve of sleepers) resolve()
  }
  return { clock, wake }
}

const limits = { running: 1, waiting: 1, waitMs: 5_000 }

describe('Slots', () => {
  it('runs as many as allowed, lets some wait and refuses the rest', async () => {
    const slots = new Slots(limits, handClock().clock)
    const first = Promise.withResolvers<string>()
    const one = slots.run(() => first.promise)
    const two = slots.run(async () => 'two')
    await expect(slots.run(async () => 'three')).rejects.toMatchObject({ code: 'sql_busy', status: 503 })
    first.resolve('one')
    expect(await one).toBe('one')
    expect(await two).toBe('two')
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('gives up waiting after its time and leaves nothing behind', async () => {
    const { clock, wake } = handClock()
    const slots = new Slots(limits, clock)
    const first = Promise.withResolvers<void>()
    const one = slots.run(() => first.promise)
    const two = slots.run(async () => {})
    const refusal = expect(two).rejects.toMatchObject({ code: 'sql_busy' })
    wake()
    await refusal
    first.resolve()
    await one
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('stops waiting when the caller goes away', async () => {
    const slots = new Slots(limits, handClock().clock)
    const first = Promise.withResolvers<void>()
    const one = slots.run(() => first.promise)
    const caller = new AbortController()
    const refusal = expect(slots.run(async () => {}, caller.signal)).rejects.toMatchObject({
      code: 'sql_cancelled',
    })
    caller.abort()
    await refusal
    first.resolve()
    await one
    await expect(slots.run(async () => {}, caller.signal)).rejects.toMatchObject({ code: 'sql_cancelled' })
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('gives the slot back after 1,000 failures', async () => {
    const slots = new Slots(limits, handClock().clock)
    for (let count = 0; count < 1_000; count++) {
      await slots.run(() => Promise.reject(new Error('no'))).catch(() => {})
    }
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })
})

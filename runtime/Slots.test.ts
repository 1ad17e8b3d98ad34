import { describe, expect, it } from 'vitest'
import type { Clock } from './runtime.ts'
import { Slots } from './Slots.ts'

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
    await expect(slots.run(async () => 'three')).rejects.toMatchObject({ code: 'slot_busy' })
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
    const refusal = expect(two).rejects.toMatchObject({ code: 'slot_busy' })
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
      code: 'slot_left',
    })
    caller.abort()
    await refusal
    first.resolve()
    await one
    await expect(slots.run(async () => {}, caller.signal)).rejects.toMatchObject({ code: 'slot_left' })
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('gives the slot back after 1,000 failures', async () => {
    const slots = new Slots(limits, handClock().clock)
    for (let count = 0; count < 1_000; count++) {
      await slots.run(() => Promise.reject(new Error('no'))).catch(() => {})
    }
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('gives a free slot to the party that holds the fewest, and to none more than its share', async () => {
    const slots = new Slots({ running: 4, waiting: 8, waitMs: 5_000 }, handClock().clock)
    const order: string[] = []
    const ends = new Map<string, () => void>()
    const begin = (party: string, name: string) =>
      slots.run(
        () => {
          order.push(name)
          return new Promise<void>((resolve) => ends.set(name, resolve))
        },
        undefined,
        party,
      )
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1'].map((name) => begin(name.charAt(0), name))
    await Promise.resolve()
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2'])
    ends.get('a1')?.()
    await all[0]
    await expect.poll(() => order.at(-1)).toBe('c1')
    ends.get('b1')?.()
    await all[4]
    await expect.poll(() => order.at(-1)).toBe('a3')
    for (const name of ['a2', 'b2', 'c1', 'a3']) ends.get(name)?.()
    await expect.poll(() => order.length).toBe(8)
    for (const end of ends.values()) end()
    await Promise.all(all)
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('leaves a slot to whoever comes next, however many parties keep all of their shares', async () => {
    const slots = new Slots({ running: 16, waiting: 64, waitMs: 5_000, perFree: 3 }, handClock().clock)
    const kept = Promise.withResolvers<void>()
    const all: Promise<void>[] = []
    const begin = (party: string, count: number) => {
      const before = slots.running
      for (let begun = 0; begun < count; begun++) all.push(slots.run(() => kept.promise, undefined, party))
      return slots.running - before
    }
    expect(begin('a', 16)).toBe(12)
    expect(begin('b', 4)).toBe(3)
    expect(begin('c', 4)).toBe(1)
    kept.resolve()
    await Promise.all(all)
    expect([slots.running, slots.waiting]).toEqual([0, 0])
  })

  it('lets one party wait in half of the queue', async () => {
    const slots = new Slots({ running: 2, waiting: 2, waitMs: 5_000 }, handClock().clock)
    const first = Promise.withResolvers<void>()
    const mine = [slots.run(() => first.promise, undefined, 'a'), slots.run(async () => {}, undefined, 'a')]
    await expect(slots.run(async () => {}, undefined, 'a')).rejects.toMatchObject({ code: 'slot_busy' })
    await slots.run(async () => {}, undefined, 'b')
    first.resolve()
    await Promise.all(mine)
  })

  it('takes the slot from a reader that leaves a piece unread, and ends its work', async () => {
    const { clock, wake } = handClock()
    const slots = new Slots(limits, clock)
    let signal: AbortSignal | undefined
    const pieces = slots.hold(async function* (given) {
      signal = given
      yield 1
      yield 2
    })
    expect(await pieces.next()).toEqual({ value: 1, done: false })
    expect(slots.running).toBe(1)
    wake()
    await expect.poll(() => slots.running).toBe(0)
    expect(signal?.aborted).toBe(true)
    await expect(pieces.next()).rejects.toMatchObject({ code: 'slot_busy' })
    expect(slots.running).toBe(0)
    expect(await slots.run(async () => 'next')).toBe('next')
  })
})

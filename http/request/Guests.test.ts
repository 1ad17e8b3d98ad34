import { describe, expect, test } from 'vitest'
import type { Clock } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'
import { Guests, type LoopTimes } from './Guests.ts'

/** A loop whose times, and a clock that, the test moves; each sleep lasts until `pass`. */
function machine() {
  let nowMs = 0
  let times: LoopTimes = { active: 0, idle: 0 }
  const sleepers: (() => void)[] = []
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: () => new Promise<void>((resolve) => sleepers.push(resolve)),
  }
  const pass = async (part: Partial<LoopTimes>) => {
    const { active = 0, idle = 0 } = part
    times = { active: times.active + active, idle: times.idle + idle }
    nowMs += active + idle
    for (const wake of sleepers.splice(0)) wake()
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  const guests = new Guests(clock, () => times)
  guests.sawOther()
  return { guests, pass }
}

/** Parties in the order in which they were let in, or refused. */
function entering(guests: Guests, parties: readonly string[]): string[] {
  const done: string[] = []
  for (const party of parties)
    void Promise.resolve(guests.enter(party)).then(
      () => done.push(party),
      (error: { code: string }) => done.push(`${party} ${error.code}`),
    )
  return done
}

describe('requests of callers without a credential', () => {
  test('begin at once while the loop has time, those of everybody always', async () => {
    const { guests, pass } = machine()
    await pass({ idle: 10 })
    expect(guests.enter('a')).toBeUndefined()
    await pass({ active: 5, idle: 5 })
    expect(guests.enter('a')).toBeUndefined()
    await pass({ active: 5, idle: 4 })
    expect(guests.enter('a')).toBeInstanceOf(Promise)
    expect(guests.enter(everybody)).toBeUndefined()
  })

  test('begin one after the other, each when the loop was idle for as long as it worked', async () => {
    const { guests, pass } = machine()
    await pass({ idle: 10 })
    guests.enter('a')
    await pass({ active: 20 })
    const done = entering(guests, ['b', 'c'])
    await pass({ idle: 19 })
    expect(done).toEqual([])
    await pass({ idle: 1 })
    expect(done).toEqual(['b'])
    await pass({ active: 3, idle: 2 })
    expect(done).toEqual(['b'])
    await pass({ idle: 1 })
    expect(done).toEqual(['b', 'c'])
  })

  test('go to the party that had the fewest turns, however many another asks', async () => {
    const { guests, pass } = machine()
    await pass({ active: 10 })
    const done = entering(guests, ['a', 'a', 'a', 'b', 'a', 'c'])
    for (let turn = 0; turn < 12; turn++) await pass({ idle: 20 })
    expect(done).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
  })

  test('are let in one in 100 ms by a loop that is never idle, and refused after two seconds', async () => {
    const { guests, pass } = machine()
    guests.enter('a')
    await pass({ active: 1 })
    const done = entering(
      guests,
      Array.from({ length: 30 }, (_, index) => `p${index}`),
    )
    for (let turn = 0; turn < 25; turn++) {
      guests.sawOther()
      await pass({ active: 100 })
    }
    expect(done.filter((text) => !text.endsWith('overloaded'))).toHaveLength(19)
    expect(done.filter((text) => text.endsWith(' overloaded'))).toHaveLength(11)
  })

  test('have most of the loop while nobody else asks', async () => {
    const { guests, pass } = machine()
    await pass({ idle: 1_000 })
    guests.enter('a')
    await pass({ active: 12 })
    const done = entering(guests, ['b', 'c'])
    await pass({ idle: 2 })
    expect(done).toEqual([])
    await pass({ idle: 1 })
    expect(done).toEqual(['b'])
    await pass({ active: 20 })
    expect(done).toEqual(['b', 'c'])
  })

  test('of one address wait a hundred at a time', async () => {
    const { guests, pass } = machine()
    await pass({ active: 10 })
    entering(
      guests,
      Array.from({ length: 101 }, () => 'a'),
    )
    expect(() => guests.enter('a')).toThrow(expect.objectContaining({ code: 'overloaded' }))
    expect(guests.enter('b')).toBeInstanceOf(Promise)
  })
})

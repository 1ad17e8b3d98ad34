import { describe, expect, it } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { Shares } from './Shares.ts'

let nowMs = 0
const clock = { ...systemRuntime().clock, monotonic: () => nowMs }

/** Takes what there is room for at endpoints that answer; how much that was. */
function fill(shares: Shares, lane: 'first' | 'again' | 'replay', endpoints: number, owner: string | null) {
  let taken = 0
  for (let n = 0; n < endpoints; n++) {
    const receiver = { endpoint: `${lane}${owner}${n}`, owner: owner ?? `owner ${n}`, failureCount: 0 }
    shares.answered(receiver.endpoint, true)
    for (; shares.room(receiver, lane) > 0; taken++) shares.take(receiver, lane)
  }
  return taken
}

function started(passedMs: number): Shares {
  nowMs = 0
  const shares = new Shares(clock)
  nowMs = passedMs
  return shares
}

describe('requests at a time', () => {
  it('are 4 to an endpoint, 32 for an owner, 256 in all', () => {
    expect(fill(started(60_000), 'first', 1, 'one')).toBe(4)
    expect(fill(started(60_000), 'first', 100, 'one')).toBe(32)
    expect(fill(started(60_000), 'first', 100, null)).toBe(256)
  })

  it('grow from a tenth to all of it in the minute after a start', () => {
    const at = (ms: number) => fill(started(ms), 'first', 100, null)
    expect([at(0), at(30_000), at(60_000), at(3_600_000)]).toEqual([26, 141, 256, 256])
  })

  it('leave room for live events, whatever is repeated and replayed', () => {
    const shares = started(60_000)
    expect(fill(shares, 'again', 100, 'one')).toBe(8)
    expect(fill(shares, 'replay', 100, 'one')).toBe(8)
    expect(fill(shares, 'first', 100, 'one')).toBe(16)
    expect(fill(shares, 'again', 500, null) + fill(shares, 'replay', 500, null)).toBe(2 * 64 - 16)
    expect(fill(shares, 'first', 500, null)).toBe(256 - 128 - 16)
  })

  for (const failureCount of [0, 5])
    it(`are one to an endpoint that gives no answer, and half of an owner’s, after ${failureCount} failures`, () => {
      const shares = started(60_000)
      const hanging = (n: number) => ({ endpoint: `down ${n}`, owner: 'one', failureCount })
      const taken: (readonly string[])[] = []
      for (let n = 0; n < 40; n++)
        while (shares.room(hanging(n), 'first') > 0) taken.push(shares.take(hanging(n), 'first'))
      expect(shares.underWay).toBe(16)
      expect(fill(shares, 'first', 100, 'one')).toBe(16)
      for (const one of taken) shares.give(one)
      expect(shares.room(hanging(0), 'first')).toBe(1)
    })

  it('are what they were once an endpoint has answered, and one when it did not', () => {
    const shares = started(60_000)
    const receiver = { endpoint: 'a', owner: 'one', failureCount: 0 }
    const taken = shares.take(receiver, 'first')
    shares.answered('a', true)
    shares.give(taken)
    expect([shares.underWay, shares.room(receiver, 'first')]).toEqual([0, 4])
    shares.answered('a', false)
    expect(shares.room(receiver, 'first')).toBe(1)
  })

  it('are an owner’s own at an endpoint: strangers who subscribe it leave each owner one', () => {
    const shares = started(60_000)
    shares.answered('shop', true)
    const at = (owner: string) => ({ endpoint: 'shop', owner, failureCount: 0 })
    const taken = (owner: string) => {
      let count = 0
      for (; shares.room(at(owner), 'first') > 0; count++) shares.take(at(owner), 'first')
      return count
    }
    expect(['stranger', 'shop'].map(taken)).toEqual([4, 4])
    expect(['a', 'b', 'c', 'd'].map(taken)).toEqual([4, 4, 1, 1])
    const again = (owner: string) => shares.room({ ...at(owner), endpoint: 'other' }, 'again')
    shares.answered('other', true)
    shares.take({ ...at('stranger'), endpoint: 'other' }, 'again')
    expect(['stranger', 'shop'].map(again)).toEqual([0, 1])
  })
})

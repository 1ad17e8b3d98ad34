import { describe, expect, it } from 'vitest'
import { systemRuntime } from '#runtime.ts'
import { Shares } from './Shares.ts'

let nowMs = 0
const clock = { ...systemRuntime().clock, monotonic: () => nowMs }

/** Takes what there is room for; how much that was. */
function fill(shares: Shares, lane: 'first' | 'again' | 'replay', endpoints: number, owner: string | null) {
  let taken = 0
  for (let n = 0; n < endpoints; n++) {
    const receiver = { endpoint: `${lane}${owner}${n}`, owner: owner ?? `owner ${n}`, failureCount: 0 }
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

  it('are one to an endpoint that fails, and half of an owner’s', () => {
    const shares = started(60_000)
    const failing = (n: number) => ({ endpoint: `down ${n}`, owner: 'one', failureCount: 5 })
    for (let n = 0; n < 40; n++) while (shares.room(failing(n), 'first') > 0) shares.take(failing(n), 'first')
    expect(shares.underWay).toBe(16)
    expect(fill(shares, 'first', 100, 'one')).toBe(16)
    for (let n = 0; n < 16; n++) shares.give(failing(n), 'first')
    expect(shares.room(failing(0), 'first')).toBe(1)
  })
})

import { describe, expect, it } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from './commits.ts'

const { clock } = systemRuntime()
const { signal } = new AbortController()
const HOUR_MS = 3_600_000

describe('a bell of commits', () => {
  it('wakes all who wait, once', async () => {
    const bell = new CommitBell()
    const waiting = [bell.wait(clock, HOUR_MS, signal), bell.wait(clock, HOUR_MS, signal)]
    bell.ring()
    await Promise.all(waiting)
    expect(bell.rings).toBe(1)
  })

  it('lets nobody wait for what rang while it looked', async () => {
    const bell = new CommitBell()
    const { rings } = bell
    bell.ring()
    await bell.wait(clock, HOUR_MS, signal, rings)
  })

  it('rings those that were added to it', async () => {
    const [bell, other] = [new CommitBell(), new CommitBell()]
    bell.add(other)
    const woken = other.wait(clock, HOUR_MS, signal)
    bell.ring()
    await woken
    other.ring()
    expect([bell.rings, other.rings]).toEqual([1, 2])
  })
})

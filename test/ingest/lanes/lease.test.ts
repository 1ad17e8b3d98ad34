// Goal: one process writes a chain: a lease is renewed, told, given up in time and taken over with
// a larger fence.
import { expect, test } from 'vitest'
import {
  acquireLease,
  type LeaseGrant,
  type LeaseHolder,
  type LeaseStore,
  waitForLease,
} from '#runtime/lease.ts'
import { silentLogger } from '#telemetry.ts'
import { namedHolder } from '../../support/namedHolder.ts'
import { ManualClock } from '../support/clock.ts'

/** A lease table with the clock of the test, able to be unreachable. */
class MemoryLeases implements LeaseStore {
  readonly clock: ManualClock
  holder = ''
  fence = 0n
  expiresAtMs = 0
  reachable = true

  constructor(clock: ManualClock) {
    this.clock = clock
  }

  async acquire(_name: string, holder: string, ttlMs: number, ended = holder): Promise<LeaseGrant> {
    const expiresInMs = this.expiresAtMs - this.clock.monotonic()
    if (expiresInMs > 0 && ![holder, ended].includes(this.holder))
      return { granted: false, holder: this.holder, expiresInMs }
    this.holder = holder
    this.expiresAtMs = this.clock.monotonic() + ttlMs
    return { granted: true, fence: ++this.fence }
  }

  async renew(_name: string, fence: bigint, ttlMs: number): Promise<boolean> {
    if (!this.reachable) throw new Error('the database is away')
    if (fence !== this.fence) return false
    this.expiresAtMs = this.clock.monotonic() + ttlMs
    return true
  }

  async release(_name: string, fence: bigint): Promise<void> {
    if (fence === this.fence) this.expiresAtMs = 0
  }
}

function bench() {
  const clock = new ManualClock()
  const store = new MemoryLeases(clock)
  const runtime = { clock, random: () => 0.5, failpoint: () => {} }
  const options = (holder: string, knows: Partial<LeaseHolder> = {}) => ({
    store,
    name: 'chain_1/head',
    holder: { ...namedHolder(holder), ...knows },
    ttlMs: 9_000,
    runtime,
    log: silentLogger,
    failpoint: () => {},
  })
  return { clock, store, options }
}

test('a lease that is renewed stays held past its lifetime', async () => {
  const { clock, options } = bench()
  const lease = await acquireLease(options('a'))
  await clock.advance(60_000)
  lease.assertHeld()
  await lease.release()
  expect(() => lease.assertHeld()).toThrow('no longer held')
})

test('a second process is told who holds the lease', async () => {
  const { options } = bench()
  const lease = await acquireLease(options('a'))
  await expect(acquireLease(options('b'))).rejects.toMatchObject({ code: 'lease_held', holder: 'a' })
  await lease.release()
})

test('a holder cut off from the store gives up before the lease can be taken over', async () => {
  const { clock, store, options } = bench()
  const lease = await acquireLease(options('a'))
  store.reachable = false
  await clock.advance(8_000)
  lease.assertHeld()
  await clock.advance(500)
  expect(store.expiresAtMs).toBeGreaterThan(clock.monotonic())
  expect(() => lease.assertHeld()).toThrow('no longer held')
  expect(lease.lost.aborted).toBe(true)
})

test('a standby takes over with a larger fence and the old holder learns it at its next renewal', async () => {
  const { clock, store, options } = bench()
  const paused = await acquireLease(options('a'))
  const standby = waitForLease(options('b'), new AbortController().signal)
  store.reachable = false
  store.expiresAtMs = 0
  await clock.advance(3_000)
  store.reachable = true
  const lease = await standby
  expect(lease.fence).toBeGreaterThan(paused.fence)
  await clock.advance(3_000)
  expect(paused.lost.aborted).toBe(true)
  expect(() => paused.assertHeld()).toThrow('no longer held')
  lease.assertHeld()
  await lease.release()
})

test('a holder that is known to have ended is not waited for', async () => {
  const { options } = bench()
  const killed = await acquireLease(options('a'))
  await expect(acquireLease(options('b', { hasEnded: (other) => other === 'c' }))).rejects.toThrow(
    'written by a',
  )
  const next = await acquireLease(options('b', { hasEnded: (other) => other === 'a' }))
  expect(next.fence).toBeGreaterThan(killed.fence)
  await next.release()
})

test('a holder that should not be there is told once it was seen to live, and only once (W8)', async () => {
  const { clock, store, options } = bench()
  const told: string[] = []
  const stop = new AbortController()
  const conflictWith = (other: string) => new Error(`${other} should not be there`)
  const watching = {
    ...options('b', { conflictWith }),
    conflict: (problem: string) => void told.push(problem),
  }
  // It was killed: nobody renews.
  store.holder = 'a'
  store.expiresAtMs = 5_000
  const first = waitForLease(watching, stop.signal)
  await clock.advance(6_000)
  const lease = await first
  expect(told).toEqual([])
  await lease.release()
  const living = await acquireLease(options('a'))
  const second = waitForLease(watching, stop.signal)
  await clock.advance(60_000)
  expect(told).toEqual(['a should not be there'])
  await living.release()
  await clock.advance(3_000)
  await (await second).release()
})

test('waiting for a lease ends when asked to', async () => {
  const { clock, options } = bench()
  const lease = await acquireLease(options('a'))
  const stop = new AbortController()
  const waiting = waitForLease(options('b'), stop.signal)
  await clock.advance(1_000)
  stop.abort(new Error('shutdown'))
  await expect(waiting).rejects.toThrow('shutdown')
  await lease.release()
})

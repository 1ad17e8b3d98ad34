import { expect, test } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { RelayBusyError, RelayRoom, type Roomy } from './RelayRoom.ts'

const { clock } = systemRuntime()
const never = new AbortController().signal
const none = new Set<Roomy>()

/** An endpoint with one place. */
const place = (pausedUntilMs = 0) => {
  const one = {
    inFlight: 0,
    pausedUntilMs,
    get hasRoom() {
      return one.inFlight < 1
    },
  }
  return one
}

test('a place given back goes to the call that waits for that endpoint', async () => {
  const room = new RelayRoom<Roomy>(clock)
  const [a, b] = [place(), place()]
  await room.take([a], none, never)
  await room.take([b], none, never)
  const leaving = new AbortController()
  const forA = room.take([a], none, leaving.signal)
  const forB = room.take([b], none, never)
  room.release(b)
  expect(await forB).toBe(b)
  leaving.abort()
  await expect(forA).rejects.toThrow()
})

test('two places given back at once go to two calls', async () => {
  const room = new RelayRoom<Roomy>(clock)
  const both = [place(), place()]
  for (const _of of both) await room.take(both, none, never)
  const waiting = Promise.all([room.take(both, none, never), room.take(both, none, never)])
  for (const one of both) room.release(one)
  expect(new Set(await waiting).size).toBe(2)
})

test('the pause that ends first is waited for; a longer one than calls wait is not', async () => {
  const room = new RelayRoom<Roomy>(clock)
  const nowMs = clock.monotonic()
  const [soon, late] = [place(nowMs + 20), place(nowMs + 60_000)]
  expect(await room.take([late, soon], none, never)).toBe(soon)
  expect(await room.take([late], none, never)).toBeUndefined()
})

test('calls past the bound are told at once', async () => {
  const room = new RelayRoom<Roomy>(clock)
  const only = place()
  await room.take([only], none, never)
  const ended = new AbortController()
  const waiting = Array.from({ length: 512 }, () => room.take([only], none, ended.signal))
  const all = Promise.allSettled(waiting)
  await expect(room.take([only], none, never)).rejects.toThrow(RelayBusyError)
  ended.abort()
  await all
})

import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import {
  assertNotInterrupted,
  createStopSignal,
  endOnSignal,
  InterruptedError,
  type SignalSource,
  unlessInterrupted,
} from './stopSignal.ts'

/** A process that is sent signals, and its clock. */
function openProcess() {
  const emitter = new EventEmitter()
  const exits: number[] = []
  const source: SignalSource = {
    on: (signal, listener) => emitter.on(signal, listener),
    removeAllListeners: (signal) => emitter.removeAllListeners(signal),
    exit: (code) => exits.push(code),
  }
  const clock = { nowMs: 0, now: () => 0, monotonic: () => clock.nowMs, sleep: () => Promise.resolve() }
  endOnSignal(source)
  emitter.emit('SIGTERM')
  return {
    stop: createStopSignal(source, clock),
    exitsBefore: exits.splice(0),
    send: (signal: string) => emitter.emit(signal),
    exits,
    clock,
  }
}

test('a signal that comes before a command listens ends the process', () => {
  expect(openProcess().exitsBefore).toEqual([1])
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s asks the program to end', (signal) => {
  const { stop, send, exits } = openProcess()
  expect(stop.aborted).toBe(false)
  send(signal)
  expect(stop.aborted).toBe(true)
  expect(exits).toEqual([])
})

test('one Ctrl-C that arrives by several ways is one; pressed again later it ends the program at once', () => {
  const { send, exits, clock } = openProcess()
  send('SIGINT')
  clock.nowMs = 900
  send('SIGINT')
  send('SIGTERM')
  expect(exits).toEqual([])
  clock.nowMs = 1_000
  send('SIGINT')
  expect(exits).toEqual([1])
})

test('work that is interrupted rejects, work that is done before does not', async () => {
  const { stop, send } = openProcess()
  assertNotInterrupted(stop)
  expect(await unlessInterrupted(stop, Promise.resolve(7))).toBe(7)
  const endless = unlessInterrupted(stop, new Promise(() => {}))
  send('SIGTERM')
  await expect(endless).rejects.toThrow(InterruptedError)
  expect(() => assertNotInterrupted(stop)).toThrow(InterruptedError)
})

// Goal: the check of loops finds every spelling of one that only an abort ends, and no other.
import { expect, it } from 'vitest'
import { loopsUntilAborted } from './untilAborted.ts'

it.each([
  'while (!signal.aborted) {\n  await turn()\n}',
  'while (!this.#stopped.signal.aborted) {',
  'while (!signal?.aborted) await turn()',
  'for (let last = 0; !stream.signal.aborted; ) {',
  'for (let tries = 1; !signal.aborted; tries++) {',
  'do {\n  await turn()\n} while (isWatched && !stop.aborted)',
  'for (;;) {\n  await turn()\n  await clock.sleep(1, signal)\n}',
  'while (true) {\n  await turn()\n}',
])('finds %j', (text) => expect(loopsUntilAborted(text)).toBe(1))

it.each([
  'while (queue.length > 0 && !signal.aborted) {',
  'for (let leftMs = 9; leftMs > 0 && !signal.aborted; leftMs--) {',
  'for (;;) {\n  if (isOver) return\n  await turn()\n}',
  'for (;;) {\n  signal.throwIfAborted()\n}',
])('leaves %j', (text) => expect(loopsUntilAborted(text)).toBe(0))

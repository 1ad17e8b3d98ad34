// Invariant: I6.
import { expect, test } from 'vitest'
import { hash } from '#primitives.ts'
import { eventId } from './eventId.ts'

const block = hash(`0x${'ab'.repeat(32)}`)

test('the same content has the same id, for ever', () => {
  expect(eventId(4217, block, 'token:transfer', 3)).toBe(
    'evt_599e09fc033a87befa94557a853367b1ed7efcc6e4901018800d518042724423',
  )
})

test('every part of an event’s place is part of its id', () => {
  const ids = [
    eventId(4217, block, 'token:transfer', 3),
    eventId(42431, block, 'token:transfer', 3),
    eventId(4217, hash(`0x${'cd'.repeat(32)}`), 'token:transfer', 3),
    eventId(4217, block, 'log:emitted', 3),
    eventId(4217, block, 'token:transfer', 4),
  ]
  expect(new Set(ids).size).toBe(ids.length)
})

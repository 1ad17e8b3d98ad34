import { expect, it } from 'vitest'
import { everybody } from '#runtime/Slots.ts'
import { PLACE_MS_MAX, placeToYield } from './places.ts'

const place = (party: string, sinceMs: number, clients = 1) => ({ party, sinceMs, clients })

it('takes a place from the party that holds the most, the newest of those that the fewest watch', () => {
  const held = [
    place('a', 1, 9),
    place('a', 2),
    place('a', 3),
    place('a', 4, 2),
    place('b', 5),
    place('b', 6),
  ]
  expect(placeToYield(held, 'c', 7)).toBe(held[2])
  expect(placeToYield(held, 'b', 7)).toBe(held[2])
  expect(placeToYield([...held, place('b', 7)], 'b', 8)).toBeUndefined()
})

it('takes none from a party that holds as few, until that one held its place for long', () => {
  const held = [place('a', 10), place('b', 5), place('c', 1, 3)]
  expect(placeToYield(held, 'd', PLACE_MS_MAX)).toBeUndefined()
  expect(placeToYield(held, 'd', PLACE_MS_MAX + 20)).toBe(held[1])
  expect(placeToYield(held, 'a', PLACE_MS_MAX + 20)).toBeUndefined()
})

it('takes none from the operator', () => {
  const held = [place(everybody, 1), place(everybody, 2), place(everybody, 3)]
  expect(placeToYield(held, 'a', 2 * PLACE_MS_MAX)).toBeUndefined()
})

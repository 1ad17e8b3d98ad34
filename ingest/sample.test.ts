import { expect, test } from 'vitest'
import { samplePlaces } from './sample.ts'

test('a short range is its own sample', () => {
  expect(samplePlaces({ from: 5, to: 84 }, 40, 2)).toEqual([{ from: 5, to: 84 }])
})

test('a long range is sampled evenly, inside its bounds, without overlap', () => {
  const places = samplePlaces({ from: 1_000, to: 10_999 }, 40, 4)
  expect(places).toHaveLength(40)
  expect(places[0]).toEqual({ from: 1_123, to: 1_126 })
  expect(places.at(-1)).toEqual({ from: 10_873, to: 10_876 })
  for (const [index, place] of places.entries()) {
    expect(place.to - place.from).toBe(3)
    expect(place.from).toBeGreaterThan(places[index - 1]?.to ?? 999)
  }
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonPlace } from './jsonPlace.ts'

it.each([
  ['', 'line 1, column 1'],
  ['{"a": 1,}', 'line 1, column 9'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
  ['{\n  "a": [1, 2,\n}', 'line 3, column 1'],
  ['{"a" 1}', 'line 1, column 6'],
  ['[1, 2', 'line 1, column 6'],
  ['[1] 2', 'line 1, column 5'],
  ["{'a': 1}", 'line 1, column 2'],
  ['{"a": nul}', 'line 1, column 7'],
  ['[01]', 'line 1, column 3'],
  ['{"a": "b\nc"}', 'line 1, column 7'],
  ['// note\n{}', 'line 1, column 1'],
  ['[}', 'line 1, column 2'],
  ['{"a":1}}', 'line 1, column 8'],
  [',', 'line 1, column 1'],
])('%j stops being JSON at %s', (text, place) => {
  expect(jsonPlace(text)).toBe(place)
})

it('finds no mistake in what is JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      expect(jsonPlace(JSON.stringify(value, null, indent))).toBeNull()
    }),
  )
})

it('finds a mistake exactly where JSON.parse finds one', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', 'true', ' ', '\n', 'x', '-', '0')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      expect(jsonPlace(text) === null).toBe(isJson(text))
    }),
    { numRuns: 2_000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

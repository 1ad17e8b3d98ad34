import { describe, expect, it } from 'vitest'
import { declined, JsonCursor } from './JsonCursor.ts'

/** The end of a text, or null when it has what a scan declines: looked at byte by byte. */
function endOf(source: Buffer): number | null {
  const end = source.findIndex((byte, at) => at > 0 && (byte === 0x22 || byte === 0x5c || byte < 0x20))
  return source[end] === 0x22 ? end + 1 : null
}

function scannedEndOf(source: Buffer): number | null {
  const cursor = new JsonCursor(source)
  try {
    cursor.skipValue()
    return cursor.at
  } catch (error) {
    if (error === declined) return null
    throw error
  }
}

describe('a text that is passed', () => {
  it('ends at its first quote, and is declined for an escape or a control character, wherever they stand', () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let length = 1; length <= 9; length++) {
        for (let place = 0; place < length; place++) {
          // Neighbours from which a subtraction may borrow, and into which it may carry.
          for (const filling of [0x61, 0x21, 0x80, 0xff]) {
            const inside = Buffer.alloc(length, filling)
            inside[place] = byte
            const source = Buffer.concat([Buffer.from('"'), inside, Buffer.from('",')])
            expect(scannedEndOf(source)).toBe(endOf(source))
          }
        }
      }
    }
  })

  it('is declined when it never ends', () => {
    for (let length = 0; length < 9; length++)
      expect(scannedEndOf(Buffer.from(`"${'a'.repeat(length)}`))).toBe(null)
  })
})

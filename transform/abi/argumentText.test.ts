import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOfText, shownText, textOfBytes } from './argumentText.ts'

const told = (hex: string): string => textOfBytes(Buffer.from(hex, 'hex'))

it.each(['', 'plain', 'größe 😊', '\ufeffmark', 'a\ufffdb', '\u2400', '0xff', '\\x00', 'a\ufffd 0x00'])(
  '%j is told as it is',
  (text) => {
    expect(textOfBytes(Buffer.from(text))).toBe(text)
  },
)

it.each([
  ['555344430000', 'USDC\ufffd0x0000'],
  ['ff00fe', '\ufffd0xff00fe'],
  ['67c3b600', 'g\ufffd0xc3b600'],
  ['61eda080', 'a\ufffd0xeda080'],
])('%s, which is no text, is told as %j', (hex, text) => {
  expect(told(hex)).toBe(text)
})

it('a text that looks like spelled bytes is told apart from them', () => {
  expect(textOfBytes(Buffer.from('a\ufffd0xff'))).toBe('a\ufffd\ufffd0xff')
  expect(textOfBytes(Buffer.from('a\ufffd\ufffd0xff'))).toBe('a\ufffd\ufffd\ufffd0xff')
})

it('every text gives its bytes back, so that different bytes never read the same', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom('a', '\0', '\ufffd', '\ufffd0x', '0x', 'ff').map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const bytes = Buffer.concat(pieces)
      const text = textOfBytes(bytes)
      expect(bytesOfText(text).toString('hex')).toBe(bytes.toString('hex'))
      expect(text).not.toContain('\0')
    }),
  )
})

it('is shown with its NUL, and a mark for each of its bytes that is none', () => {
  expect(shownText(told('4100ff42'))).toBe('A\0\ufffdB')
})

// Goal (PAY-13): what is shown of a stranger's text is what it says; names that look alike are
// told.
import { describe, expect, it } from 'vitest'
import { cleanText } from './cleanText.ts'

const hidden = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...Array.from({ length: 33 }, (_, code) => 0x7f + code),
  ...[
    0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x2800, 0x3164, 0xfeff, 0xffa0, 0xfff9,
    0xfffb,
  ],
  ...Array.from({ length: 5 }, (_, code) => 0x200b + code),
  ...Array.from({ length: 16 }, (_, code) => 0x2060 + code),
  ...Array.from({ length: 5 }, (_, code) => 0x202a + code),
  ...Array.from({ length: 16 }, (_, code) => 0xfe00 + code),
  ...Array.from({ length: 96 }, (_, code) => 0xe0020 + code),
  ...[0xe0001, 0xe0100, 0xe01ef, 0xd800, 0xdfff, 0xe000, 0xf0000],
]

describe('a text of the catalog', () => {
  it(`loses ${hidden.length} characters that nobody sees`, () => {
    expect(hidden.length).toBeGreaterThanOrEqual(200)
    for (const code of hidden) {
      const text = cleanText(`pay${String.fromCodePoint(code)}ment`, 100)
      expect(['payment', 'pay ment'], code.toString(16)).toContain(text)
    }
  })

  it('is one line, of bounded length, cut between characters', () => {
    expect(cleanText('  a\r\n\tb \u2028 c  ', 100)).toBe('a b c')
    expect(cleanText('abcdef', 4)).toBe('abc…')
    expect(cleanText('ab\u{1f469}\u{1f3fd}cd', 4)).toBe('ab…')
    expect(cleanText('e\u0301'.repeat(3), 3)).toBe('ééé')
  })

  it('keeps every script', () => {
    for (const text of ['Погода в Париже', '天気予報', 'مرحبا', 'Größe', 'नमस्ते'])
      expect(cleanText(text, 100)).toBe(text)
  })
})

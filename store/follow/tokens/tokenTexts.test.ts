import { expect, it } from 'vitest'
import { shortText, toldText } from './tokenTexts.ts'

it.each(['pathUSD', 'a\0b', '\0', 'x\0\0', '\u2400', '\0\u2400\0', '\u2400\ufe0e', ''])(
  '%j is stored without NUL and told as it is',
  (name) => {
    expect(shortText(name)).not.toContain('\0')
    expect(toldText(shortText(name))).toBe(name)
  },
)

it('a text that is cut tells no NUL that was none', () => {
  for (const length of [5, 6, 7]) expect(toldText(shortText('\u2400'.repeat(9), length))).not.toContain('\0')
})

import { describe, expect, it } from 'vitest'
import { spellingSimilarity } from './spelling.ts'

describe('spellings', () => {
  it.each([
    ['a letter too few', 'trascrib', 'transcrib'],
    ['a letter too many', 'melodyy', 'melody'],
    ['another letter', 'sneeker', 'sneaker'],
    ['two that changed places', 'exhcang', 'exchang'],
    ['the first two changed places', 'rtanslat', 'translat'],
    ['an ending that its stem lacks', 'reservaton', 'reserv'],
    ['two mistakes in a long word', 'screnshoot', 'screenshot'],
  ])('%s: %s may mean %s', (_, typed, meant) => expect(spellingSimilarity(typed, meant)).toBeGreaterThan(0.7))

  it.each([
    ['short', 'cat', 'car'],
    ['begun otherwise', 'fight', 'light'],
    ['longer by no ending', 'portland', 'port'],
    ['two mistakes in a short word', 'lisbon', 'lesson'],
  ])('a word that is %s is another one: %s, %s', (_, typed, other) =>
    expect(spellingSimilarity(typed, other)).toBe(0),
  )

  it('a swap is nearer than another letter', () =>
    expect(spellingSimilarity('sovl', 'solv')).toBeGreaterThan(spellingSimilarity('sovl', 'soal')))
})

import { describe, expect, it } from 'vitest'
import { clausesOf } from './clauses.ts'

const wanted = (question: string) =>
  clausesOf(question)
    .filter(({ weight }) => weight === 1)
    .map(({ text }) => text.trim())

describe('clauses', () => {
  it('a short question is one wish', () => {
    expect(clausesOf('bitcoin price')).toEqual([{ text: 'bitcoin price', weight: 1 }])
    expect(clausesOf('')).toEqual([{ text: '', weight: 1 }])
  })

  it.each([
    ['news about wine, no shops please', 'news about wine'],
    ['translate it, not by hand', 'translate it'],
    ['send a mail without an attachment', 'send a mail'],
    ['a bank instead of a shop', 'a bank'],
    ["a bot, don't want a person", 'a bot'],
  ])('what is not wanted is left out: %s', (question, kept) => expect(wanted(question).join(' ')).toBe(kept))

  it('what is said beside the wish counts little, and what is settled hardly', () => {
    const clauses = clausesOf(
      'We run a vineyard in the hills. The bottles are already paid. Please find out how wet the soil is near the roots.',
    )
    expect(clauses.map(({ weight }) => weight)).toEqual([0.4, 0.1, 1])
  })

  it('the part of a sentence behind "I need" is the wish', () =>
    expect(
      wanted('For a paper on plastics in drinking water I need publications with their authors'),
    ).toEqual(['I need publications with their authors']))

  it('a question that only says what is not wanted is taken as it is', () =>
    expect(clausesOf('no code')).toEqual([{ text: 'no code', weight: 1 }]))
})

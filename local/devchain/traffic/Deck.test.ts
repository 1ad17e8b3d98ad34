import { expect, test } from 'vitest'
import { Deck } from './Deck.ts'
import { Dice } from './Dice.ts'

const kinds = [
  ['often', 5],
  ['sometimes', 2],
  ['rarely', 1],
] as const

test('the first hand holds every kind once', () => {
  const deck = new Deck<string>(kinds, new Dice('seed'))
  expect(deal(deck, 3).sort()).toEqual(['often', 'rarely', 'sometimes'])
})

test('every later deck holds each kind as often as its weight', () => {
  const deck = new Deck<string>(kinds, new Dice('seed'))
  deal(deck, 3)
  for (let round = 0; round < 5; round++) {
    const hand = deal(deck, 8)
    for (const [kind, copies] of kinds) expect(hand.filter((card) => card === kind)).toHaveLength(copies)
  }
})

test('a seed decides the order', () => {
  const hand = (seed: string) => deal(new Deck<string>(kinds, new Dice(seed)), 40).join()
  expect(hand('one')).toBe(hand('one'))
  expect(hand('one')).not.toBe(hand('other'))
})

function deal(deck: Deck<string>, count: number): string[] {
  return Array.from({ length: count }, () => deck.deal())
}

/**
 * Weighted choice without droughts: cards are dealt from a shuffled deck that holds each kind as
 * often as its weight, so the rarest kind comes once per deck, not once in a blue moon.
 */
import type { Dice } from './Dice.ts'

/**
 * An endless deck. The first hand holds every kind once: whoever starts a chain sees all of it
 * soon.
 */
export class Deck<Card> {
  readonly #kinds: readonly (readonly [card: Card, copies: number])[]
  readonly #dice: Dice
  #cards: Card[]

  constructor(kinds: readonly (readonly [card: Card, copies: number])[], dice: Dice) {
    this.#kinds = kinds
    this.#dice = dice
    this.#cards = dice.shuffle(kinds.map(([card]) => card))
  }

  deal(): Card {
    const card = this.#cards.pop()
    if (card !== undefined) return card
    const full = this.#kinds.flatMap(([kind, copies]) => Array.from({ length: copies }, () => kind))
    this.#cards = this.#dice.shuffle(full)
    return this.deal()
  }
}

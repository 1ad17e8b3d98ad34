/** Swaps by a seed through an exchange of a few lines, as logs, with what their takers gave and got. */
import type { Hex } from 'viem'
import { expect } from 'vitest'
import { events, exchange, fill, logOf, pathUsd, place, taker } from '../../support/writtenBook.ts'
import type { WrittenLog } from '../../support/writtenChain.ts'

const tokenOf = (letter: string): Hex => `0x20c000000000000000000000${letter.repeat(16)}`
/** The two base tokens. */
export const [one, other] = [tokenOf('b'), tokenOf('d')]

interface Order {
  readonly id: bigint
  readonly base: Hex
  readonly isBid: boolean
  readonly tick: number
  remaining: bigint
}

const SCALE = 100_000n
const priceOf = ({ tick }: Order) => SCALE + BigInt(tick)
const least = (a: bigint, b: bigint): bigint => [a, b].reduce((found, next) => (next < found ? next : found))
const up = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by

/** The book of one seed, and swaps through it as the exchange makes them. */
export class ScriptedBook {
  readonly orders: Order[] = []
  #state: number

  constructor(seed: number) {
    this.#state = seed * 7_919
  }

  below(n: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((this.#state / 2 ** 32) * n)
  }

  place(): WrittenLog[] {
    return [one, other].flatMap((base) =>
      [true, false].flatMap((isBid) =>
        Array.from({ length: 160 }, () => {
          // The higher the price, the more often a unit is left over.
          const tick = 1_000 + this.below(100) * 10
          const order = {
            id: BigInt(this.orders.length + 1),
            base,
            isBid,
            tick,
            remaining: BigInt(this.below(1_900) + 100),
          }
          this.orders.push(order)
          return place(order.id, base, order.remaining, isBid, tick)
        }),
      ),
    )
  }

  #next(base: Hex, isBid: boolean): Order {
    const found = this.orders
      .filter((order) => order.base === base && order.isBid === isBid && order.remaining > 0n)
      .toSorted((a, b) => (isBid ? b.tick - a.tick : a.tick - b.tick))
    return found[0] ?? expect.fail('the book is empty')
  }

  #fill(order: Order, amount: bigint): WrittenLog {
    order.remaining -= amount
    return fill(order.id, amount, order.remaining > 0n)
  }

  exactIn(base: Hex, isBid: boolean, amount: bigint): { logs: WrittenLog[]; out: bigint } {
    const logs: WrittenLog[] = []
    let [left, out] = [amount, 0n]
    while (left > 0n) {
      const order = this.#next(base, isBid)
      const wanted = isBid ? left : (left * SCALE) / priceOf(order)
      const filled = least(wanted, order.remaining)
      const goesOn = wanted > order.remaining
      logs.push(this.#fill(order, filled))
      out += isBid ? (filled * priceOf(order)) / SCALE : filled
      left = goesOn ? left - (isBid ? filled : up(filled * priceOf(order), SCALE)) : 0n
    }
    return { logs, out }
  }

  exactOut(base: Hex, isBid: boolean, amount: bigint): { logs: WrittenLog[]; paid: bigint } {
    const logs: WrittenLog[] = []
    let [left, paid] = [amount, 0n]
    while (left > 0n) {
      const order = this.#next(base, isBid)
      const wanted = isBid ? up(left * SCALE, priceOf(order)) : left
      const filled = least(wanted, order.remaining)
      const goesOn = wanted > order.remaining
      logs.push(this.#fill(order, filled))
      paid += isBid ? filled : up(filled * priceOf(order), SCALE)
      left = goesOn ? left - (isBid ? (filled * priceOf(order)) / SCALE : filled) : 0n
    }
    return { logs, paid }
  }
}

export interface Swap {
  readonly given: readonly [Hex, bigint]
  readonly got: readonly [Hex, bigint]
  readonly logs: readonly WrittenLog[]
}

/** One hop or two, of an exact input or output. */
export function swapBy(book: ScriptedBook): Swap {
  const amount = BigInt(book.below(900) + 60)
  const [from, to] = book.below(2) === 0 ? [one, other] : [other, one]
  const hops = [
    [{ base: from, isBid: true, given: from, got: pathUsd }],
    [{ base: to, isBid: false, given: pathUsd, got: to }],
    [
      { base: from, isBid: true, given: from, got: pathUsd },
      { base: to, isBid: false, given: pathUsd, got: to },
    ],
  ][book.below(3)]
  const [first, last] = [hops?.[0] ?? expect.fail(), hops?.at(-1) ?? expect.fail()]
  const sent = (token: Hex, of: bigint, from: Hex, to: Hex) =>
    logOf(token, events.transfer, { from, to, amount: of })
  let logs: WrittenLog[] = []
  let moved = amount
  if (book.below(2) === 0) {
    for (const { base, isBid } of hops ?? []) {
      const done = book.exactIn(base, isBid, moved)
      logs.push(...done.logs)
      moved = done.out
    }
    logs = [sent(first.given, amount, taker, exchange), ...logs, sent(last.got, moved, exchange, taker)]
    return { given: [first.given, amount], got: [last.got, moved], logs }
  }
  for (const { base, isBid } of hops?.toReversed() ?? []) {
    const done = book.exactOut(base, isBid, moved)
    logs.push(...done.logs)
    moved = done.paid
  }
  logs.push(sent(first.given, moved, taker, exchange), sent(last.got, amount, exchange, taker))
  return { given: [first.given, moved], got: [last.got, amount], logs }
}

// Goal: fills of one swap are one row, unrelated trades are apart.
import { expect, test } from 'vitest'
import { type Address, address, type Hash, hash } from '#primitives.ts'
import type { BookEvent, Fill } from './book.ts'
import { pairKey } from './bookStates.ts'
import { assignSwaps, chainLegs, swapsOf } from './swaps.ts'

const token = (n: number): Address => address(`0x${`${n}`.repeat(40)}`)
const [a, b, c] = [token(1), token(2), token(3)]
const txHash: Hash = hash(`0x${'ab'.repeat(32)}`)
const place = (logIndex: number) => ({
  ...{ blockNumber: 1, logIndex, timestampSeconds: 1, txHash, txIndex: 0, emitter: a },
})

/** A fill at a log that turned `source` into `destination`: the lower token is the base. */
function fill(logIndex: number, source: Address, destination: Address, taker = token(9)): Fill {
  const isBid = source < destination
  const [base, quote] = isBid ? [source, destination] : [destination, source]
  return {
    ...{ place: place(logIndex), id: 1n, maker: token(8), taker, pair: pairKey(base, quote), base, quote },
    ...{ isBid, tick: 0, amount: 1n, quoteAmount: 1n, isPartial: true, reserve0: 0n, reserve1: 0n },
  }
}
const logged = (fills: readonly Fill[], others: readonly number[] = []): BookEvent[] =>
  [
    ...fills.map(({ place, id, maker, taker, amount, isPartial }) => ({
      ...({ kind: 'filled', place, id, maker, taker, amount, isPartial } as const),
    })),
    ...others.map((logIndex) => ({ kind: 'flipFailed', place: place(logIndex), id: 1n }) as const),
  ].toSorted((x, y) => x.place.logIndex - y.place.logIndex)

const assigned = (fills: readonly Fill[], events: readonly BookEvent[]) =>
  assignSwaps(fills, swapsOf(fills, events))

test('fills one after the other are a swap, and so are those with only the exchange between them', () => {
  const fills = [fill(5, a, b), fill(6, a, b), fill(8, a, b)]
  expect(assigned(fills, logged(fills, [7]))).toEqual([5, 5, 5])
})

test('another contract between two fills ends a swap', () => {
  const fills = [fill(5, a, b), fill(7, a, b)]
  expect(assigned(fills, logged(fills))).toEqual([5, 7])
})

test('a swap of exact output is chained although its last book is logged first', () => {
  const fills = [fill(5, b, c), fill(6, b, c), fill(7, a, b)]
  expect(assigned(fills, logged(fills))).toEqual([5, 5, 5])
})

test('trades of two takers, and trades that do not chain, stand apart', () => {
  const fills = [fill(5, a, b), fill(6, a, b, token(7))]
  expect(assigned(fills, logged(fills))).toEqual([5, 6])
  const apart = [fill(5, a, b), fill(6, c, b)]
  expect(assigned(apart, logged(apart))).toEqual([5, 6])
})

test('legs become routes; those that branch or go round stand alone', () => {
  const leg = (source: string, destination: string) => ({ source, destination })
  expect(chainLegs([leg('b', 'c'), leg('a', 'b')])).toEqual([['a', 'b', 'c']])
  expect(chainLegs([leg('a', 'b'), leg('c', 'd')])).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  expect(chainLegs([leg('a', 'b'), leg('b', 'a')])).toEqual([
    ['a', 'b'],
    ['b', 'a'],
  ])
  expect(chainLegs([leg('a', 'b'), leg('b', 'c'), leg('c', 'b')])).toHaveLength(3)
  expect(chainLegs([leg('a', 'b'), leg('a', 'c')])).toHaveLength(2)
})

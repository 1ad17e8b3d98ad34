/**
 * How wide tests look. `npm test` proves the program; `npm run test:all` also tries every filter,
 * depth and place: there `x.full.test.ts` runs the tests of `x.test.ts` in their whole breadth.
 * `npm run test:long` has that of suites (`x.long.test.ts`) that take long.
 */
import { describe, inject, test } from 'vitest'

export const isFull = inject('breadth') !== 'few'
export const isLong = inject('breadth') === 'long'

/** A test of breadth, which `npm test` has not. */
export function fullTest(title: string, run: () => Promise<void> | void): void {
  if (isFull) test(title, run)
}

/** A situation whose tests are all of breadth. */
export function fullDescribe(title: string, define: () => void): void {
  if (isFull) describe(title, define)
}

/**
 * A test without breadth, of a suite that has some: `npm test` ran it, the second half need not. It
 * leaves nothing behind for those after it.
 */
export function onceTest(title: string, run: () => Promise<void> | void): void {
  if (!isFull) test(title, run)
}

/** A situation whose tests are all without breadth. */
export function onceDescribe(title: string, define: () => void): void {
  if (!isFull) describe(title, define)
}

/** All values in the whole breadth, otherwise so many of them, from the first to the last. */
export function few<Value>(values: readonly Value[], count: number): readonly Value[] {
  return isFull ? values : spread(values, count)
}

/**
 * Values that are tried one by one: `npm test` has so many of them, from the first to the last, and
 * the second half the others.
 */
export function share<Value>(values: readonly Value[], count: number): readonly Value[] {
  const tried = new Set(spread([...values.keys()], count))
  return values.filter((_, place) => tried.has(place) !== isFull)
}

/** `all` numbers from `first` on: `npm test` has `count` of them, the second half the others. */
export function seedsFrom(first: number, count: number, all: number): readonly number[] {
  const [from, to] = isFull ? [count, all] : [0, count]
  return Array.from({ length: to - from }, (_, place) => first + from + place)
}

function spread<Value>(values: readonly Value[], count: number): readonly Value[] {
  if (values.length <= count) return values
  const step = (values.length - 1) / Math.max(1, count - 1)
  return Array.from({ length: count }, (_, index) => values[Math.round(index * step)] as Value)
}

declare module 'vitest' {
  interface ProvidedContext {
    breadth: 'few' | 'full' | 'long'
  }
}

import { expect, test } from 'vitest'
import { ByteBudget } from './ByteBudget.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('grants are first come, first served, and never pass the limit', async () => {
  const budget = new ByteBudget(100)
  const first = await budget.acquire(60)
  const order: number[] = []
  const take = async (bytes: number) => {
    await budget.acquire(bytes)
    order.push(bytes)
  }
  const second = take(50)
  const third = take(10)
  await settled()
  expect(order).toEqual([])
  first.release()
  await Promise.all([second, third])
  expect(order).toEqual([50, 10])
  expect(budget.usedBytes).toBe(60)
})

test('a request larger than the budget is granted alone', async () => {
  const budget = new ByteBudget(100)
  const small = await budget.acquire(1)
  const huge = budget.acquire(500)
  await settled()
  expect(budget.usedBytes).toBe(1)
  small.release()
  await huge
  expect(budget.usedBytes).toBe(500)
})

test('a corrected size makes room, and release is idempotent', async () => {
  const budget = new ByteBudget(100)
  const first = await budget.acquire(100)
  const second = budget.acquire(40)
  first.resize(60)
  ;(await second).release()
  first.release()
  first.release()
  expect(budget.usedBytes).toBe(0)
})

test('a waiter that gives up lets the ones behind it through', async () => {
  const budget = new ByteBudget(100)
  await budget.acquire(90)
  const stop = new AbortController()
  const big = budget.acquire(50, stop.signal)
  const small = budget.acquire(10)
  stop.abort(new Error('gave up'))
  await expect(big).rejects.toThrow('gave up')
  await small
  expect(budget.usedBytes).toBe(100)
})

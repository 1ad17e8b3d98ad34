import { describe, expect, test } from 'vitest'
import { Dice } from './Dice.ts'

describe('dice', () => {
  test('stay within their bounds and reach both ends', () => {
    const dice = new Dice('bounds')
    const drawn = new Set(Array.from({ length: 500 }, () => dice.between(3, 7)))
    expect([...drawn].sort()).toEqual([3, 4, 5, 6, 7])
  })

  test('favour the first of a list without forgetting the last', () => {
    const dice = new Dice('favour')
    const list = [0, 1, 2, 3]
    const drawn = Array.from({ length: 1000 }, () => dice.favour(list))
    const counts = list.map((item) => drawn.filter((other) => other === item).length)
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    expect(counts[3]).toBeGreaterThan(0)
  })

  test('draw amounts of every order of magnitude', () => {
    const dice = new Dice('amounts')
    const digits = new Set(Array.from({ length: 500 }, () => String(dice.amount(10, 1e6)).length))
    expect([...digits].sort()).toEqual([2, 3, 4, 5, 6])
  })

  test('shuffle without losing or doubling anything', () => {
    const list = Array.from({ length: 50 }, (_, index) => index)
    const shuffled = new Dice('cards').shuffle(list)
    expect(shuffled).not.toEqual(list)
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(list)
  })

  test('write as many bytes as asked for', () => {
    expect(new Dice('bytes').bytes(7)).toMatch(/^0x[0-9a-f]{14}$/)
  })
})

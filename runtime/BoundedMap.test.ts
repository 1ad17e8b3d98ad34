import { describe, expect, it } from 'vitest'
import { BoundedMap } from './BoundedMap.ts'

const keysOf = <Key, Value>(map: BoundedMap<Key, Value>): Key[] => [...map].map(([key]) => key)

describe('BoundedMap', () => {
  it('drops what was written longest ago; a look makes nothing younger', () => {
    const map = new BoundedMap<string, number>({ max: 2 })
    map.set('a', 1)
    map.set('b', 2)
    expect(map.get('a')).toBe(1)
    map.set('c', 3)
    expect(keysOf(map)).toEqual(['b', 'c'])
    map.set('b', 4)
    map.set('d', 5)
    expect([...map]).toEqual([
      ['b', 4],
      ['d', 5],
    ])
  })

  it('keeps what is used', () => {
    const map = new BoundedMap<string, number>({ max: 2 })
    map.set('a', 1)
    map.set('b', 2)
    expect([map.use('a'), map.use('z')]).toEqual([1, undefined])
    map.set('c', 3)
    expect(keysOf(map)).toEqual(['a', 'c'])
  })

  it('counts weights as they were when written, and holds nothing heavier than all', () => {
    const map = new BoundedMap<string, number[]>({ max: 10, weigh: ({ length }) => length })
    const grown = [1, 2, 3]
    map.set('grown', grown)
    grown.push(4, 5, 6, 7)
    map.set('five', [1, 2, 3, 4, 5])
    expect([map.weight, keysOf(map)]).toEqual([8, ['grown', 'five']])
    map.delete('grown')
    expect(map.weight).toBe(5)
    map.set(
      'eleven',
      Array.from({ length: 11 }, () => 0),
    )
    expect([map.weight, map.size]).toEqual([0, 0])
  })

  it('ends entries by its clock', () => {
    let nowMs = 0
    const map = new BoundedMap<string, number>({ max: 10, now: () => nowMs })
    map.set('short', 1, 5)
    map.set('long', 2)
    nowMs = 4
    expect(map.get('short')).toBe(1)
    nowMs = 5
    expect(keysOf(map)).toEqual(['long'])
    expect([map.has('short'), map.get('short'), map.use('short'), map.size]).toEqual([
      false,
      undefined,
      undefined,
      1,
    ])
  })

  it('lets entries go while it is walked', () => {
    const map = new BoundedMap<number, string>({ max: 10 })
    for (const number of [1, 2, 3, 4]) map.set(number, `${number}`)
    for (const [number] of map) if (number % 2 === 0) map.delete(number)
    expect(keysOf(map)).toEqual([1, 3])
  })
})

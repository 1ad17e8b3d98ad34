import { describe, expect, it } from 'vitest'
import { mapAtMost } from './mapAtMost.ts'

describe('mapAtMost', () => {
  it('keeps the order of its items, whatever ends first', async () => {
    const gates = [1, 2, 3].map(() => Promise.withResolvers<string>())
    const mapped = mapAtMost(3, gates, (gate) => gate.promise)
    for (const [index, gate] of [...gates.entries()].reverse()) gate.resolve(`item ${index}`)
    expect(await mapped).toEqual(['item 0', 'item 1', 'item 2'])
    expect(await mapAtMost(3, [], async () => 1)).toEqual([])
  })

  it('never has more under way than it may', async () => {
    let underWay = 0
    let most = 0
    await mapAtMost(3, Array.from({ length: 20 }), async () => {
      most = Math.max(most, ++underWay)
      await new Promise(setImmediate)
      underWay--
    })
    expect(most).toBe(3)
  })

  it('begins nothing after a failure, aborts what is under way and throws once that has ended', async () => {
    const begun: number[] = []
    const ended: number[] = []
    const mapped = mapAtMost(2, [0, 1, 2, 3], async (item, signal) => {
      begun.push(item)
      if (item === 1) throw new Error('the second fails')
      await new Promise((resolve) => signal.addEventListener('abort', () => setImmediate(resolve)))
      ended.push(item)
    })
    await expect(mapped).rejects.toThrow('the second fails')
    expect({ begun, ended }).toEqual({ begun: [0, 1], ended: [0] })
  })

  it('gives each act the end of its caller', async () => {
    const caller = new AbortController()
    const mapped = mapAtMost(
      1,
      [0],
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
      caller.signal,
    )
    caller.abort(new Error('the caller left'))
    await expect(mapped).rejects.toThrow('the caller left')
  })
})

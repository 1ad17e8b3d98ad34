import { expect, test } from 'vitest'
import { hash } from '#primitives.ts'
import { everybody } from '#runtime/Slots.ts'
import { LOOK_UPS_MAX, LOOK_UPS_PER_CALLER_MAX, NodeLookUps } from './NodeLookUps.ts'

const hashOf = (number: number) => hash(`0x${number.toString(16).padStart(64, '0')}`)
const { signal } = new AbortController()

function openLookUps(known: ReadonlySet<string> = new Set()) {
  const asked: string[] = []
  const clock = { nowMs: 0, monotonic: () => clock.nowMs }
  const lookUps = new NodeLookUps({
    clock,
    allowance: async () => {},
    ask: async (hash) => {
      asked.push(hash)
      return known.has(hash) ? { hash } : null
    },
  })
  /** How many of them are answered. */
  const askAll = async (party: string, from: number, count: number) => {
    const answers = await Promise.allSettled(
      Array.from({ length: count }, (_, index) => lookUps.ask(hashOf(from + index), party, signal)),
    )
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'overloaded' })
    return answers.filter(({ status }) => status === 'fulfilled').length
  }
  return { lookUps, asked, clock, askAll }
}

test('a caller that makes up hashes has a part of the calls, all callers together so many', async () => {
  const { asked, clock, askAll } = openLookUps()
  for (const second of [0, 1]) {
    clock.nowMs = second * 1_000
    const from = second * 10_000
    expect(await askAll('greedy', from, 1_000)).toBe(LOOK_UPS_PER_CALLER_MAX)
    expect(await askAll('another', from + 1_000, 5)).toBe(5)
    let rest = 0
    for (let party = 0; party < 20; party++) rest += await askAll(`p${party}`, from + 2_000 + party * 100, 10)
    expect(rest).toBe(LOOK_UPS_MAX - LOOK_UPS_PER_CALLER_MAX - 5)
    expect(asked).toHaveLength((second + 1) * LOOK_UPS_MAX)
  }
})

test('callers that cannot be told apart share all of them', async () => {
  const { askAll } = openLookUps()
  expect(await askAll(everybody, 0, 1_000)).toBe(LOOK_UPS_MAX)
})

test('who ask for one transaction at one time are told by one call', async () => {
  const { lookUps, asked } = openLookUps(new Set([hashOf(2)]))
  const ask = (number: number) => lookUps.ask(hashOf(number), 'party', signal)
  expect(await Promise.all([ask(2), ask(2), ask(2)])).toEqual(Array(3).fill({ hash: hashOf(2) }))
  expect(asked).toHaveLength(1)
  expect([await ask(1), await ask(1)]).toEqual([null, null])
  expect(asked).toHaveLength(3)
})

test('a look-up that fails leaves nothing behind', async () => {
  let fails = true
  const lookUps = new NodeLookUps({
    clock: { monotonic: () => 0 },
    allowance: async () => {},
    ask: async (hash) => {
      if (fails) throw new Error('down')
      return { hash }
    },
  })
  await expect(lookUps.ask(hashOf(1), 'party', signal)).rejects.toThrow('down')
  fails = false
  expect(await lookUps.ask(hashOf(1), 'party', signal)).toEqual({ hash: hashOf(1) })
})

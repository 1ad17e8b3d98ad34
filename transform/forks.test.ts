import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { events } from './events/index.ts'
import { forks, newestKnownFork } from './forks.ts'

const chainIds = [4217, 42431] as const

describe('the table of forks', () => {
  test.each(forks.map((fork) => [fork.name, fork] as const))(
    '%s names declared events and files that exist',
    (_, { handled }) => {
      const signatures = new Set(events.map(({ signature }) => signature))
      const missing = handled.filter((name) =>
        name.includes('(') ? !signatures.has(name) : !existsSync(new URL(`../${name}`, import.meta.url)),
      )
      expect(missing).toEqual([])
    },
  )

  test('names each fork once, in the order in which they begin on every chain', () => {
    expect(new Set(forks.map(({ name }) => name)).size).toBe(forks.length)
    for (const chainId of chainIds) {
      const times = forks.flatMap(({ activatesAt }) => activatesAt[chainId] ?? [])
      expect(times).toEqual(times.toSorted((one, other) => one - other))
      expect(newestKnownFork(chainId)).toBe(times.at(-1))
    }
    expect(newestKnownFork(1)).toBe(0)
  })

  test('has a time on the main network for every confirmed fork, and none for a draft', () => {
    for (const { name, knowledge, activatesAt } of forks)
      expect([name, chainIds.some((chainId) => chainId in activatesAt)]).toEqual([
        name,
        knowledge === 'confirmed',
      ])
    expect(forks.filter(({ knowledge }) => knowledge === 'draft').map(({ name }) => name)).toEqual([
      'T13',
      'T14',
    ])
  })

  test('says of each confirmed fork since T4 that it began on the test network first', () => {
    const since = forks.slice(forks.findIndex(({ name }) => name === 'T4'))
    for (const { name, knowledge, activatesAt } of since) {
      if (knowledge === 'draft') continue
      const [main, test] = chainIds.map((chainId) => activatesAt[chainId] ?? Number.NaN)
      expect([name, Number(test) < Number(main)]).toEqual([name, true])
    }
  })
})

import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { knownForksOf } from '#ingest/verify/knownChains.ts'
import { amsterdamHeader } from '#test/support/amsterdam.ts'
import { events } from './events/index.ts'
import { ethereumForks, forkSeconds, forks, isKnownForkTime, newestKnownFork } from './forks.ts'

const chainIds = [4217, 42431] as const

describe('the table of forks', () => {
  test.each([...forks, ...ethereumForks].map((fork) => [fork.name, fork] as const))(
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

  test('has Amsterdam on Sepolia alone, where its first block has that time', () => {
    const { number, timestamp } = amsterdamHeader('sepolia11856337')
    expect(newestKnownFork(11_155_111)).toBe(Number(timestamp))
    expect(isKnownForkTime(11_155_111, Number(timestamp))).toBe(true)
    expect([isKnownForkTime(1, Number(timestamp)), isKnownForkTime(11_155_111, 0)]).toEqual([false, false])
    expect(knownForksOf(11_155_111)).toMatchObject({ headerRule: 'ethereum', headersTo: Number(number) - 1 })
    expect(newestKnownFork(560_048)).toBe(0)
    expect(knownForksOf(560_048)).toEqual({ headerRule: 'ethereum', headersTo: -1, envelopesTo: -1 })
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

  test('tells when one of them began on a chain, and refuses a name that it does not have', () => {
    expect([forkSeconds('T5', 4217), forkSeconds('T5', 42431)]).toEqual([1_781_013_600, 1_780_495_200])
    expect([forkSeconds('T5', 31337), forkSeconds('T14', 4217)]).toEqual([undefined, undefined])
    expect(() => forkSeconds('T4.5', 4217)).toThrow('T4.5')
  })

  test('is the only place of the program that has the times of forks', () => {
    const cwd = new URL('..', import.meta.url).pathname
    const exclude = ['node_modules/**', 'test/**', 'bench/**', '**/*.test.ts', 'transform/forks.ts']
    const files = globSync('**/*.ts', { cwd, exclude })
    const all = [...forks, ...ethereumForks].flatMap(({ activatesAt }) => Object.values(activatesAt))
    const times = all.filter((time) => time > 0)
    const withTimes = files.filter((file) => {
      const text = readFileSync(`${cwd}/${file}`, 'utf8').replaceAll(/(?<=\d)_(?=\d)/g, '')
      return times.some((time) => text.includes(`${time}`))
    })
    expect(files.length).toBeGreaterThan(100)
    expect(withTimes).toEqual([])
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

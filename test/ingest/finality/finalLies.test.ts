// Goal: one endpoint's word against a block that we hold as final stops no lane and drops no history
// while another endpoint may be heard: neither after a restart, when its finality stands below ours,
// nor while the other one is away for a moment (L41).
// Method: as in headLies.test.ts.
import { expect, test } from 'vitest'
import { hash } from '#primitives.ts'
import { lyingHeads } from '../support/lyingHeads.ts'

const OURS = 200
const fork = { hash: hash(`0x${'ee'.repeat(32)}`), parentHash: hash(`0x${'dd'.repeat(32)}`) }
const other = { number: OURS, ...fork }

const parties = [
  ['liar', 'honest'],
  ['honest', 'liar'],
] as const

/** A lane that holds the block OURS as final. */
async function finalAt(hosts: readonly string[]) {
  const b = lyingHeads(hosts)
  await b.steps(3)
  b.chain.extend(10)
  b.chain.finalized = OURS
  await b.steps(20)
  expect(await b.sink.finalized()).toBe(OURS)
  return b
}

test('a reorg after a restart ends well beside an endpoint that grants little and tells another final block', async () => {
  for (const hosts of parties) {
    const { chain, sink, told, steps, problems } = lyingHeads(hosts, await finalAt(hosts))
    told.set('liar', (at) => {
      if (at === 'finalized') return chain.blocks[0]
      return Number(at) === OURS ? other : undefined
    })
    chain.reorg(3, 5)
    await steps(20)
    expect(problems).not.toContain('finality_violated')
    expect((await sink.tip())?.hash).toBe(chain.head.hash)
  }
})

test('a word against a final block waits for an endpoint that is away for a moment', async () => {
  for (const hosts of parties) {
    const { chain, sink, told, steps, problems } = await finalAt(hosts)
    const sibling = { ...chain.head, ...fork }
    told.set('liar', (at) => (at === 'latest' ? sibling : Number(at) === OURS ? other : undefined))
    told.set('honest', () => 'away')
    await steps(10)
    expect(new Set(problems)).toEqual(new Set(['contradicted_alone']))
    expect(sink.reverts).toEqual([])
    told.delete('honest')
    chain.extend(5)
    await steps(20)
    expect((await sink.tip())?.hash).toBe(chain.head.hash)
  }
})

test('it is believed when nobody else answers for long, and from the only endpoint at once', async () => {
  for (const hosts of [['liar', 'honest'], ['liar']]) {
    const { chain, told, steps, problems, clock } = await finalAt(hosts)
    const sibling = { ...chain.head, ...fork }
    told.set('liar', (at) => (at === 'latest' ? sibling : Number(at) === OURS ? other : undefined))
    told.set('honest', () => 'away')
    if (hosts.length > 1) clock.ms += 300_000
    await steps(1)
    expect(problems.at(-1)).toBe('finality_violated')
  }
})

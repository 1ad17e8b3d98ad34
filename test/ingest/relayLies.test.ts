// Goal: whatever one of two or three endpoints says of the chain's end, clients are told of no block
// that is not there, of none as final that is not, and of the true ones soon after (W2). Method: the
// real relay over nodes in memory and a clock that is moved; a chain that grows and reorganizes, nodes
// that lag, and one that changes its lies, by seed. What is told is compared with the chain.
import { describe, expect, test } from 'vitest'
import { chosenRule } from '#ingest/finality/rules/chosenRule.ts'
import { type FinalityProof, ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { few } from '../support/breadth.ts'
import { FAR } from './support/lyingHeads.ts'
import { behind, block, FINAL, HEAD, lies, MADE_UP, newestOf, relayOver } from './support/lyingRelay.ts'
import { seededRandom } from './support/random.ts'

function proofOf(number: number, digit = 'b'): FinalityProof {
  const told = block(number, digit)
  const signature = new Uint8Array(48)
  const proposal = { epoch: 0, view: number, parentView: number - 1, digest: told.hash }
  return { certificate: { ...proposal, vote: signature, seed: signature }, block: told, endpoint: 'a' }
}

const parties = [
  ['two', ['liar', 'a']],
  ['two, the liar last', ['a', 'liar']],
  ['three', ['a', 'liar', 'b']],
] as const

describe.each(parties)('one liar of %s', (_title, hosts) => {
  test.each(
    few(
      Array.from({ length: 60 }, (_, index) => index + 1),
      4,
    ),
  )('tells no client anything (seed %i)', async (seed) => {
    const random = seededRandom(seed)
    const below = (bound: number) => Math.floor(random() * bound)
    const { chain, told, clock, relay, head, tagged } = relayOver(hosts)
    // Ingest's part of the chain follows it, in every second run.
    told.set('a', behind(chain, 0))
    const held = seed % 2 === 0 ? { tip: -1, finalized: -1 } : null
    if (held) relay.heed(held)
    let highest = HEAD
    let before = 0
    let wasReplaced = false
    for (let turn = 0; turn < 150; turn++) {
      if (random() < 0.4) chain.extend(1 + below(3))
      if (random() < 0.05 && chain.head.number - chain.finalized > 6) {
        chain.reorg(1 + below(3))
        wasReplaced = true
      }
      if (random() < 0.3) chain.finalized = Math.max(chain.finalized, chain.head.number - 6 - below(4))
      highest = Math.max(highest, chain.head.number)
      if (held) Object.assign(held, { tip: chain.head.number - below(2), finalized: chain.finalized })
      if (hosts.length > 2) told.set('b', behind(chain, below(4)))
      if (random() < 0.3) {
        const kind = below(lies.length + 1)
        const lie = kind === MADE_UP ? undefined : lies[kind]
        if (lie) told.set('liar', lie(chain))
        else told.delete('liar')
      }
      const pauseMs = random() < 0.05 ? 90_000 : below(1_500)
      await clock.advance(pauseMs)
      // Ingest has reached an honest head long before that.
      if (held && pauseMs === 90_000) held.tip = chain.head.number
      const newest = await head()
      expect(newest, `turn ${turn}`).toBeLessThanOrEqual(highest)
      if (newest < before) expect([turn, wasReplaced]).toEqual([turn, true])
      wasReplaced &&= newest >= before
      before = newest
      for (const tag of ['finalized', 'safe'] as const)
        expect((await tagged(tag)) ?? 0, `${tag} at turn ${turn}`).toBeLessThanOrEqual(chain.finalized)
    }
    // Ingest's part, or a second honest endpoint, outweighs the liar; else it ends.
    if (hosts.length > 2) told.set('b', behind(chain, 0))
    if (!held && hosts.length === 2) told.delete('liar')
    if (held) Object.assign(held, { tip: chain.head.number, finalized: chain.finalized })
    await clock.advance(5_000)
    await head()
    await clock.advance(1_000)
    expect(await head()).toBe(chain.head.number)
    expect(await tagged()).toBe(chain.finalized)
  })
})

test('blocks made up on top of the chain answer nobody once the chain has others there', async () => {
  const { chain, told, clock, relay, head, within } = relayOver(['liar', 'a'])
  await head()
  for (let round = 0; round < 5; round++) {
    const made = lies[MADE_UP]
    if (made) told.set('liar', made(chain))
    await clock.advance(1_100)
    await head()
    chain.extend(1)
    await clock.advance(1_100)
    await head()
  }
  expect(await head()).toBe(chain.head.number)
  expect(await newestOf(relay, within)).toBe(chain.head.number)
})

test('an endpoint ahead is believed after a reorganization that a slower one follows later', async () => {
  const { chain, told, clock, head } = relayOver(['a', 'b'])
  told.set('b', behind(chain, 2))
  for (let n = 0; n < 3; n++) {
    chain.extend(1)
    await clock.advance(1_100)
    expect(await head()).toBe(chain.head.number)
  }
  chain.reorg(3)
  // Two blocks behind, it names the new branch block by block.
  for (const behindBy of [2, 2, 1, 0]) {
    told.set('b', behind(chain, behindBy))
    await clock.advance(1_100)
    await head()
    expect(await head()).toBe(chain.head.number)
  }
})

test('a head that ingest does not follow for half a minute is none', async () => {
  const { chain, told, clock, relay, head, within } = relayOver(['liar', 'a'])
  relay.heed({ tip: HEAD, finalized: FINAL })
  await head()
  const made = lies[MADE_UP]
  if (made) told.set('liar', made(chain))
  await clock.advance(1_100)
  expect(await head()).toBe(HEAD + 2)
  for (let second = 0; second < 32; second++) {
    await clock.advance(1_000)
    await head()
  }
  expect(await head()).toBe(HEAD)
  expect(await newestOf(relay, within)).toBe(HEAD)
})

test('one endpoint of two that is left goes on alone, from what was known', async () => {
  const { chain, told, clock, head } = relayOver(['a', 'b'])
  await head()
  told.set('b', () => 'away')
  for (let minute = 0; minute < 5; minute++) {
    chain.extend(100)
    await clock.advance(60_000)
    expect(await head()).toBe(chain.head.number)
  }
})

test('the only endpoint is believed; a head far above the next is no more after a minute', async () => {
  const { chain, told, clock, head, tagged } = relayOver(['a'])
  expect([await head(), await tagged()]).toEqual([HEAD, FINAL])
  told.set('a', (at) => (at === 'latest' ? block(FAR) : undefined))
  await clock.advance(1_100)
  expect(await head()).toBe(FAR)
  told.delete('a')
  chain.extend(1)
  await clock.advance(1_100)
  expect(await head()).toBe(FAR)
  await clock.advance(61_000)
  expect(await head()).toBe(HEAD + 1)
})

test('certificates alone decide of tags: what is held as final, whatever they prove above', async () => {
  const proved = new ProvedFinality()
  const held = { tip: HEAD, finalized: FINAL - 10 }
  const { clock, relay, tagged } = relayOver(['a', 'b'], (agreed) => chosenRule('both', agreed, proved))
  relay.heed(held)
  expect(await tagged()).toBe(FINAL)
  proved.take(proofOf(FINAL + 5))
  expect([await tagged(), await tagged('safe')]).toEqual([FINAL - 10, FINAL - 10])
  held.finalized = FINAL + 5
  expect([await tagged(), await tagged('safe')]).toEqual([FINAL + 5, FINAL + 5])
  expect(proved.take(proofOf(FINAL + 5, 'c'))).toBe('equivocated')
  await clock.advance(1_100)
  expect(await tagged()).toBe(FINAL + 5)
})

describe('a problem is told', () => {
  test('where no endpoint answers, until one does', async () => {
    const { told, clock, relay, head } = relayOver(['a', 'b'])
    await head()
    expect(relay.problem).toBeNull()
    for (const host of ['a', 'b']) told.set(host, () => 'away')
    await clock.advance(1_100)
    await expect(head()).rejects.toMatchObject({ code: 'relay_failed' })
    expect(relay.problem).toMatch(/none of 2 endpoints answers/)
    told.delete('b')
    await clock.advance(1_100)
    await head()
    expect(relay.problem).toBeNull()
  })

  test('where an old block is shown as the newest', async () => {
    const { chain, told, clock, relay, head } = relayOver(['a', 'b'])
    for (const host of ['a', 'b']) told.set(host, behind(chain, 5))
    await head()
    relay.heed({ tip: HEAD, finalized: FINAL })
    for (let second = 0; second < 62; second++) {
      if (second < 55) expect(relay.problem).toBeNull()
      await clock.advance(1_000)
      await head()
    }
    expect(relay.problem).toMatch(`block ${HEAD - 5} is shown as the newest, and ${HEAD} is held`)
    told.clear()
    await clock.advance(1_100)
    await head()
    expect(relay.problem).toBeNull()
  })
})

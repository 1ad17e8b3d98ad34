// Goal: whatever one of two or three endpoints says of the chain's end, clients are told of no block
// that is not there, of none as final that is not, and of the true ones soon after (W2). Method: the
// real relay over nodes in memory and a clock that is moved; a chain that grows and reorganizes, nodes
// that lag, and one that changes its lies, by seed. What is told is compared with the chain.
import { describe, expect, onTestFinished, test } from 'vitest'
import { chosenRule } from '#ingest/finality/rules/chosenRule.ts'
import type { FinalityRule } from '#ingest/finality/rules/finalityRule.ts'
import { type FinalityProof, ProvedFinality } from '#ingest/finality/rules/ProvedFinality.ts'
import { openRelay } from '#ingest/relay/openRelay.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { type BlockRef, hash } from '#primitives.ts'
import { silentLogger } from '#telemetry.ts'
import { few } from '../support/breadth.ts'
import { ManualClock } from './support/clock.ts'
import { FakeChain } from './support/fakeChain.ts'
import { memoryNodes, type TellBlock } from './support/memoryNodes.ts'
import { seededRandom } from './support/random.ts'

const HEAD = 200
const FINAL = 190
const FAR = 2 ** 40

const block = (number: number, digit = 'b'): BlockRef => ({
  number,
  hash: hash(`0x${digit.repeat(24)}${number.toString(16).padStart(40, '0')}`),
  parentHash: hash(
    `0x${digit.repeat(24)}${Math.max(0, number - 1)
      .toString(16)
      .padStart(40, '0')}`,
  ),
})

function proofOf(number: number, digit = 'b'): FinalityProof {
  const told = block(number, digit)
  const signature = new Uint8Array(48)
  const proposal = { epoch: 0, view: number, parentView: number - 1, digest: told.hash }
  return { certificate: { ...proposal, vote: signature, seed: signature }, block: told, endpoint: 'a' }
}

/** A relay over these hosts; `told` says what each of them tells in place of the truth. */
function relayOver(hosts: readonly string[], finality?: (agreed: FinalityRule) => FinalityRule) {
  const chain = new FakeChain(HEAD + 1)
  chain.finalized = FINAL
  const told = new Map<string, TellBlock>()
  const clock = new ManualClock()
  const openTransport = memoryNodes(chain, told)
  const source = createSource({
    chainId: 1,
    urls: hosts.map((host) => `http://${host}`),
    finalityDepth: 4,
    ...(finality && { finality }),
    runtime: { clock, random: seededRandom(1), failpoint: () => {} },
    log: silentLogger,
    openTransport,
    announcements: false,
  })
  onTestFinished(() => source.close())
  /** Time goes on while something is waited for. */
  const within = async <T>(asked: Promise<T>): Promise<T> => {
    let isOver = false
    const over = asked.finally(() => {
      isOver = true
    })
    over.catch(() => {})
    for (let steps = 0; !isOver && steps < 1_000; steps++) await clock.advance(10)
    return await over
  }
  const relay = openRelay(source, { clock, openTransport })
  const head = () => within(relay.head())
  const tagged = (tag: 'safe' | 'finalized' = 'finalized') => within(relay.tagged(tag))
  return { chain, told, clock, relay, head, tagged, within }
}

/** Blocks between the newest one and a node's own. */
const behind =
  (chain: FakeChain, blocks: number): TellBlock =>
  (at) => {
    const top = Math.max(0, chain.head.number - blocks)
    if (at === 'latest') return chain.blocks[top]
    if (at === 'finalized' || at === 'safe') return chain.blocks[Math.min(chain.finalized, top)]
    return Number(at) > top ? null : undefined
  }

/** A node's lies. */
const lies: readonly ((chain: FakeChain) => TellBlock)[] = [
  () => (at) => (at === 'latest' ? block(FAR) : undefined),
  () => (at) => (at === 'finalized' || at === 'safe' ? block(FAR) : undefined),
  ({ head }) =>
    (at) =>
      at === 'latest' ? block(head.number + 4) : undefined,
  ({ head }) =>
    (at) =>
      typeof at === 'string' && Number.isNaN(Number(at)) ? block(head.number + 2) : undefined,
  ({ head }) =>
    (at) =>
      at === 'latest' ? block(Math.max(0, head.number - 9)) : undefined,
  ({ head }) =>
    (at) =>
      at === 'latest' ? block(head.number) : undefined,
  ({ head }) =>
    (at) =>
      at === 'finalized' || at === 'safe' ? head : undefined,
  () => (at) => (at === 'finalized' || at === 'safe' ? block(0) : undefined),
  (chain) => (at) => {
    // Blocks of its own above the chain, which it holds and links to it.
    const { number } = chain.head
    const asked = at === 'latest' ? number + 2 : Number(at)
    if (!(asked > number)) return undefined
    return asked === number + 1 ? { ...block(asked), parentHash: chain.head.hash } : block(asked)
  },
  () => () => 'away',
]
/** Those by which a block that is not there may be told for a moment. */
const MADE_UP = 8

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

const newestOf = async (relay: Relay, within: <T>(asked: Promise<T>) => Promise<T>) => {
  const call = { method: 'eth_getBlockByNumber', params: '["latest",false]' }
  const wish = { height: -1, newest: true, asksAll: false }
  const answer = await within(relay.ask(call, wish, new AbortController().signal))
  return Number(JSON.parse(answer.text).number)
}

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

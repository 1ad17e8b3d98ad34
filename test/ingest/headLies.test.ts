// Goal: one endpoint that names a head or a finality which is none neither moves the lane nor makes
// anything final, and what a lie had done before is undone (L21, L22).
// Method: the real source over nodes in memory, of which one lies; the real step over a sink in
// memory.
import { expect, onTestFinished, test } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { startAnnouncer } from './support/announcer.ts'
import { FakeChain } from './support/fakeChain.ts'
import { FAR, FINAL, HEAD, headOf, lyingHeads } from './support/lyingHeads.ts'
import { memoryNodes, secondOf, type ToldBlock } from './support/memoryNodes.ts'

/** The block that `at` means, made some seconds later than it was. */
function dated(chain: FakeChain, at: unknown, seconds: number): ToldBlock | undefined {
  const number = at === 'latest' ? chain.head.number : at === 'finalized' ? chain.finalized : Number(at)
  const block = chain.blocks[number]
  return block && { ...block, timestamp: secondOf(number) + seconds }
}

const parties = [
  ['liar', 'honest'],
  ['honest', 'liar'],
] as const

test.each([
  ['told alone', false, secondOf(HEAD)],
  ['shown by its number', true, secondOf(HEAD)],
  ['shown, and dated far ahead', true, secondOf(FAR)],
])('a head of another chain moves nothing: %s (L21)', async (_, shows, seconds) => {
  for (const hosts of parties) {
    const { chain, source, sink, told, steps } = lyingHeads(hosts)
    await steps(2)
    told.set('liar', headOf(FAR, shows, seconds))
    await steps(20)
    chain.extend(20)
    chain.finalized = 205
    await steps(20)
    expect(sink.sealed).toEqual([])
    expect((await sink.tip())?.number).toBe(HEAD + 20)
    expect(await sink.finalized()).toBe(205)
    expect((await source.head()).head).toEqual(chain.head)
  }
})

test('at the very first reading too, and from the only endpoint there is (L21)', async () => {
  for (const hosts of [...parties, ['liar']] as const) {
    const { source, sink, told, steps } = lyingHeads(hosts)
    told.set('liar', headOf(FAR, false))
    if (hosts.length === 1) await expect(source.head()).rejects.toMatchObject({ code: 'source_unavailable' })
    else expect(await source.head()).toMatchObject({ head: { number: HEAD }, finalized: FINAL })
    told.clear()
    await steps(40)
    expect(sink.sealed).toEqual([])
    expect((await sink.tip())?.number).toBe(HEAD)
  }
})

test('a node that is catching up holds back neither the head nor what is final', async () => {
  const { chain, source, told, clock } = lyingHeads(['behind', 'honest'])
  clock.ms = 2_000_000
  chain.extend(2_000)
  chain.finalized = 2_100
  told.set('behind', (at) => (at === 'latest' || at === 'finalized' ? chain.blocks[50] : undefined))
  expect(await source.head()).toMatchObject({ head: chain.head, finalized: 2_100 })
})

test('a block that one endpoint alone calls final may still be replaced (L22)', async () => {
  for (const hosts of parties) {
    const { chain, sink, told, steps } = lyingHeads(hosts)
    await steps(3)
    told.set('liar', (at) => (at === 'finalized' ? chain.head : undefined))
    await steps(20)
    expect(await sink.finalized()).toBe(FINAL)
    chain.reorg(1, 8)
    await steps(20)
    chain.finalized = 204
    told.clear()
    await steps(20)
    expect((await sink.tip())?.hash).toBe(chain.head.hash)
    expect(await sink.finalized()).toBe(204)
  }
})

test('one word makes nothing final while another endpoint is merely away, and does when it is gone (L22)', async () => {
  const { chain, sink, told, steps, clock } = lyingHeads(['liar', 'honest'])
  await steps(3)
  told.set('liar', (at) => (at === 'finalized' ? chain.head : undefined))
  told.set('honest', () => 'away')
  chain.extend(5)
  await steps(40)
  expect((await sink.tip())?.number).toBe(HEAD + 5)
  expect(await sink.finalized()).toBe(FINAL)
  chain.reorg(1, 8)
  told.delete('honest')
  await steps(20)
  expect((await sink.tip())?.hash).toBe(chain.head.hash)
  told.set('honest', () => 'away')
  clock.ms += 300_000
  await steps(20)
  expect(await sink.finalized()).toBe(chain.head.number)
})

// An honest endpoint behind a wrong gateway tells another chain too, and the other may be a liar.
test('an endpoint of another chain is waited for as one that is away, three minutes from the start (L15)', async () => {
  const ofAnother = (host: string, method: string) =>
    host === 'wrong' && method === 'eth_chainId' ? { result: '0x2' } : null
  for (const hosts of [
    ['honest', 'wrong'],
    ['wrong', 'honest'],
  ]) {
    const { chain, source, sink, steps, clock } = lyingHeads(hosts, undefined, ofAnother)
    await steps(2)
    chain.extend(10)
    chain.finalized = 205
    await steps(12)
    expect((await sink.tip())?.number).toBe(HEAD + 10)
    expect([await sink.finalized(), source.answering]).toEqual([FINAL, 2])
    clock.ms = 181_000
    await steps(12)
    expect([await sink.finalized(), source.answering]).toEqual([205, 1])
  }
})

test('a program that starts beside an endpoint that is away begins below the head (L22)', async () => {
  const { chain, source, told } = lyingHeads(['honest', 'away'])
  told.set('away', () => 'away')
  chain.finalized = HEAD
  expect(await source.head()).toMatchObject({ head: chain.head, finalized: HEAD - 64 })
})

test('a head dated ahead of time silences no honest endpoint (L21, L22)', async () => {
  for (const hosts of parties) {
    const { chain, source, told, steps, clock } = lyingHeads(hosts)
    await steps(3)
    const ahead = headOf(HEAD + 200, true, secondOf(HEAD) + 590)
    // Blocks of the chain are far apart.
    told.set('honest', (at) => dated(chain, at, -30))
    told.set('liar', (at) => (at === 'finalized' ? chain.head : ahead(at)))
    for (let reading = 0; reading < 20; reading++) {
      clock.ms += 1_000
      expect((await source.head()).finalized).toBe(FINAL)
    }
  }
})

test('a false block told for a final height neither stops the lane nor takes anything back', async () => {
  const { chain, sink, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(3)
  const other = {
    number: FINAL - 1,
    hash: hash(`0x${'ee'.repeat(32)}`),
    parentHash: hash(`0x${'dd'.repeat(32)}`),
  }
  told.set('liar', (at) => (at === 'finalized' ? other : undefined))
  chain.extend(10)
  await steps(40)
  expect((await sink.tip())?.number).toBe(HEAD + 10)
  expect(sink.reverts).toEqual([])
})

test('a sibling told as the head takes nothing back: its block is not there (L21)', async () => {
  const { chain, sink, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(3)
  const sibling = {
    number: HEAD,
    hash: hash(`0x${'ee'.repeat(32)}`),
    parentHash: hash(`0x${'dd'.repeat(32)}`),
  }
  told.set('liar', (at) => (at === 'latest' ? sibling : undefined))
  await steps(30)
  expect(sink.reverts).toEqual([])
  chain.extend(10)
  await steps(30)
  expect((await sink.tip())?.number).toBe(HEAD + 10)
})

// Waiting for the others would stop the lane at each real reorganization that one endpoint alone can tell.
test('the only endpoint that answers leads above what is final, until the others are back (L21)', async () => {
  const { chain, sink, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(3)
  const branch = new FakeChain(FINAL + 1, 'branch')
  branch.restore(chain.snapshot().slice(0, FINAL + 1))
  branch.extend(HEAD - FINAL)
  told.set('honest', () => 'away')
  told.set('liar', (at) => branch.blocks[at === 'latest' ? HEAD : Number(at)])
  await steps(10)
  expect((await sink.tip())?.hash).toBe(branch.head.hash)
  expect([await sink.finalized(), new Set(sink.reverts)]).toEqual([FINAL, new Set([null])])
  chain.extend(3)
  told.delete('honest')
  await steps(60)
  expect((await sink.tip())?.hash).toBe(chain.head.hash)
  expect(await sink.finalized()).toBe(FINAL)
})

test('a lane that a false head had sent away begins again at the head', async () => {
  const { sink, steps } = lyingHeads(['honest'])
  sink.from = FAR + 1
  await steps(10)
  expect((await sink.tip())?.number).toBe(HEAD)
  expect(sink.blocks[0]?.number).toBe(FINAL + 1)
})

test('where two endpoints differ at a final height, the parent of the block above decides (L36)', async () => {
  for (const hosts of parties) {
    const { chain, source, told, steps } = lyingHeads(hosts)
    await steps(2)
    const lied = 100
    const forged = hash(`0x${'ee'.repeat(32)}`)
    told.set('liar', (at) => {
      const block = chain.blocks[Number(at)]
      return block && Math.abs(block.number - lied) < 5 ? { ...block, hash: forged } : undefined
    })
    expect(await source.blockRef(lied)).toEqual(chain.blocks[lied])
    const blamed = source.endpoints().map(({ lastFailure }) => lastFailure !== null)
    expect(blamed).toEqual(hosts.map((host) => host === 'liar'))
  }
})

test('also at the newest final height, by the blocks above it (L36)', async () => {
  const { chain, sink, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(3)
  const other = { ...chain.blocks[FINAL], number: FINAL, ...fork }
  told.set('liar', (at) => (Number(at) === FINAL ? other : undefined))
  chain.reorg(4, 6)
  await steps(20)
  expect((await sink.tip())?.hash).toBe(chain.head.hash)
})

const fork = { hash: hash(`0x${'ee'.repeat(32)}`), parentHash: hash(`0x${'dd'.repeat(32)}`) }

test('nothing is decided between endpoints that share no block above', async () => {
  const { chain, source, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(2)
  told.set('liar', (at) => {
    const block = typeof at === 'string' && at.startsWith('0x') ? chain.blocks[Number(at)] : undefined
    return block && block.number >= 100 ? { ...block, hash: fork.hash } : undefined
  })
  await expect(source.blockRef(100)).rejects.toMatchObject({ code: 'endpoints_disagree' })
})

test('an endpoint that grants far less than the others is told of while it does', async () => {
  const { chain, source, told, steps, clock } = lyingHeads(['liar', 'honest'])
  chain.extend(500)
  chain.finalized = 600
  clock.ms += 500_000
  await steps(3)
  expect(source.finalityHeld).toBeNull()
  told.set('liar', (at) => (at === 'finalized' ? chain.blocks[FINAL] : undefined))
  chain.finalized = 690
  await steps(30)
  expect(source.finalityHeld).toBeNull()
  clock.ms += 300_000
  await steps(20)
  expect(source.finalityHeld).toMatch(/^liar.* grants block 190 to be final, honest.* block 690$/)
  told.clear()
  await steps(20)
  expect(source.finalityHeld).toBeNull()
  expect((await source.head()).finalized).toBe(690)
})

test('endpoints without a tag for final blocks are not told to be far from those with one', async () => {
  const { chain, source, told, steps, clock } = lyingHeads(['counts', 'honest'])
  chain.extend(500)
  clock.ms += 500_000
  told.set('counts', (at) => (at === 'finalized' ? null : undefined))
  await steps(5)
  clock.ms += 300_000
  await steps(20)
  expect(source.finalityHeld).toBeNull()
})

test('a head that its endpoint does not hold is not told as that endpoint’s', async () => {
  const { source, told, steps } = lyingHeads(['liar', 'honest'])
  await steps(2)
  told.set('liar', headOf(FAR, false))
  await steps(20)
  expect(source.endpoints().map(({ head }) => head)).toEqual([null, HEAD])
})

test('the tag `safe` is no part of what a lane concludes', async () => {
  const { sink, told, steps } = lyingHeads(['liar', 'honest'])
  const asked = new Set<unknown>()
  told.set('liar', (at) => {
    asked.add(at)
    return undefined
  })
  await steps(20)
  expect((await sink.tip())?.number).toBe(HEAD)
  expect(asked).not.toContain('safe')
})

test('announcements of heads that are none wake the lane and are no heads (L21)', async () => {
  const announcer = await startAnnouncer()
  onTestFinished(() => announcer.close())
  const chain = new FakeChain(HEAD + 1)
  const source = createSource({
    ...{ chainId: 1, urls: [announcer.url], finalityDepth: 64, runtime: systemRuntime() },
    ...{ log: silentLogger, openTransport: memoryNodes(chain, new Map()) },
  })
  onTestFinished(() => source.close())
  await source.head()
  const waited = source.waitForHead(HEAD, 30_000)
  await expect.poll(() => announcer.subscribers).toBe(1)
  for (const number of [FAR, 0, Number.MAX_SAFE_INTEGER]) announcer.announce(number)
  // A head that was announced and does not come is polled for.
  chain.extend(1)
  await waited
  expect(await source.head()).toMatchObject({ head: chain.head, finalized: 0 })
})

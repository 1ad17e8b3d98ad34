// Goal: the check of feeds finds every lie by its own rule, and nothing in a feed that is right.
import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { checkFeed } from './checkFeed.ts'
import { checkEvents, type FeedEvent, type Rule } from './rules.ts'

const maker = getAddress(`0x${'ab'.repeat(20)}`)
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const decimal = (units: number) => (units / 1e6).toFixed(6).replace(/\.?0+$/, '')

/** Two fills of each block: an ask of 2 and one of 3 base tokens, at a price that rounds. */
const feedOf = (count: number): FeedEvent[] =>
  Array.from({ length: count }, (_, index) => {
    const [block, second] = [Math.floor(index / 2), index % 2]
    const [base, left] = second === 0 ? [2_000_001, 8_000_000] : [3_000_000, 5_000_000]
    return {
      block: { blockNumber: block, blockTimestamp: 1_000 + block },
      ...{
        eventType: 'swap',
        txnId: hash(block + 1),
        txnIndex: 3,
        eventIndex: 4 + second,
        maker,
        pairId: hash(7),
      },
      ...{ asset0Out: decimal(base), asset1In: decimal(Math.ceil((base * 100_010) / 100_000)) },
      ...{ priceNative: '1.0001', reserves: { asset0: decimal(left), asset1: '12.5' } },
    }
  })
const range = { from: 0, to: 10 }

test('a feed that is right has no problems', () => {
  expect(checkEvents(feedOf(20), range)).toEqual([])
})

test('an exact input whose last units buy nothing is no problem', () => {
  expect(checkEvents(changed(feedOf(20), { asset1In: '2.000204' }), range)).toEqual([])
})

const lies: Readonly<Record<string, readonly [Rule, (events: FeedEvent[]) => FeedEvent[]]>> = {
  'two events exchanged': [
    'order',
    ([a, b, ...rest]) => [b, a, ...rest].filter((event) => event !== undefined),
  ],
  'an event told twice': ['unique', ([a, ...rest]) => [a, a, ...rest].filter((event) => event !== undefined)],
  'a block that was not asked for': [
    'range',
    (events) => changed(events, { block: { blockNumber: 11, blockTimestamp: 2_000 } }, 19),
  ],
  'a time that goes back': [
    'blocks',
    (events) => changed(events, { block: { blockNumber: 9, blockTimestamp: 1 } }, 19),
  ],
  'a hash of another transaction': ['transactions', (events) => changed(events, { txnId: hash(99) }, 5)],
  'a maker without checksum': ['checksum', (events) => changed(events, { maker: maker.toLowerCase() })],
  'two assets in': ['oneInOneOut', (events) => changed(events, { asset0In: '1' })],
  'the absent side as zero': ['oneInOneOut', (events) => changed(events, { asset0In: '0', asset1Out: '0' })],
  'a price of nothing': ['price', (events) => changed(events, { priceNative: '0.000' })],
  'an exponent in a price': ['price', (events) => changed(events, { priceNative: '1e0' })],
  'an amount rounded to the other side': ['amounts', (events) => changed(events, { asset1In: '2.000201' })],
  'more left over than rounding leaves': ['amounts', (events) => changed(events, { asset1In: '2.000205' })],
  'an amount in units': ['amounts', (events) => changed(events, { asset0Out: '2000001' })],
  'reserves below zero': [
    'reserves',
    (events) => changed(events, { reserves: { asset0: '-1', asset1: '0' } }),
  ],
  'reserves of the whole contract': [
    'movedByTrade',
    (events) => changed(events, { reserves: { asset0: '8', asset1: '12.5' } }, 3),
  ],
  'another kind of event': ['shape', (events) => changed(events, { eventType: 'join' })],
}

function changed(events: readonly FeedEvent[], change: Partial<FeedEvent>, at = 4): FeedEvent[] {
  return events.map((event, index) => (index === at ? { ...event, ...change } : event))
}

test.each(Object.entries(lies))('%s is found', (_, [rule, lie]) => {
  expect(checkEvents(lie(feedOf(20)), range).map((problem) => problem.rule)).toContain(rule)
})

/** A deployment that tells these events. */
const deploymentOf =
  (events: readonly FeedEvent[], latest: number, cut = Number.POSITIVE_INFINITY) =>
  async (path: string) => {
    const url = new URL(path, 'http://feed')
    const [from, to] = ['fromBlock', 'toBlock'].map((name) => Number(url.searchParams.get(name)))
    if (path.endsWith('latest-block')) return { status: 200, body: { block: { blockNumber: latest } } }
    if (path.includes('/pairs/')) return { status: 200, body: { pair: { asset0Id: 'a', asset1Id: 'b' } } }
    if (path.includes('/assets/'))
      return { status: 200, body: { asset: { id: path.at(-1), name: 'A', symbol: 'A' } } }
    if ((to ?? 0) > latest || (to ?? 0) - (from ?? 0) > 10_000) return { status: 400, body: {} }
    const own = events.filter(
      ({ block }) => block.blockNumber >= (from ?? 0) && block.blockNumber <= (to ?? 0),
    )
    return { status: 200, body: { events: own.slice(0, cut) } }
  }

test('a whole feed is read in pieces; too few events and short answers are told', async () => {
  const events = feedOf(1_200)
  expect(await checkFeed(deploymentOf(events, 599), '/feed/1')).toEqual({
    ...{ latestBlock: 599, events: 1_200, pairs: 1, problems: [] },
  })
  const few = await checkFeed(deploymentOf(feedOf(20), 9), '/feed/1')
  expect(few.problems.map((text) => text.split(':')[0])).toEqual(['events'])
  const short = await checkFeed(deploymentOf(events, 599, 1_100), '/feed/1')
  expect(short.problems.map((text) => text.split(':')[0])).toEqual(['chunks'])
})

test('a chain of a million blocks is read in pieces that a feed gives', async () => {
  const events = feedOf(1_200).map((event, index) =>
    index < 1_198 ? event : { ...event, block: { ...event.block, blockNumber: 1_000_000 } },
  )
  expect((await checkFeed(deploymentOf(events, 1_000_000), '/feed/1')).problems).toEqual([])
})

test('a feed that tells blocks above its latest one, and assets by other ids or without names, is found', async () => {
  const events = feedOf(1_200)
  const honest = deploymentOf(events, 599)
  const rulesOf = async (
    lie: (path: string, answer: Awaited<ReturnType<typeof honest>>) => typeof answer,
  ) => {
    const { problems } = await checkFeed(async (path) => lie(path, await honest(path)), '/feed/1')
    return [...new Set(problems.map((text) => text.split(':')[0]))]
  }
  expect(await rulesOf((_, answer) => (answer.status === 400 ? { status: 200, body: {} } : answer))).toEqual([
    'latest',
  ])
  for (const asset of [{ id: 'c' }, { name: ' ' }, { symbol: '' }])
    expect(
      await rulesOf((path, answer) =>
        path.includes('/assets/')
          ? {
              status: 200,
              body: { asset: { id: path.at(-1), name: 'A', symbol: 'A', ...asset } },
            }
          : answer,
      ),
    ).toEqual(['assets'])
})

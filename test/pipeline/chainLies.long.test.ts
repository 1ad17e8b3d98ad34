// Goal: a node that lies about its head, its finality, its limits or its identity, or that answers
// what it had before a reorg, gets nothing wrong committed, and the chain is whole by itself when
// it stops (ING-05: L7 to L10, L13 and L15; lies about one block are in lies.long.test.ts).
// Method: two proxies before the replayed recording; the whole pipeline on real engines, while it
// fills history and while it follows the head; what is held is compared with the recording during
// the lie and after it.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readLane } from '#store/ledger/lane.ts'
import type { NodeAnswer, NodeCall } from '../ingest/support/proxyNode.ts'
import {
  FINALITY,
  HEAD,
  healed,
  LAST,
  LIE_MS,
  type LiedTo,
  LyingNode,
  type TellCall,
} from './support/lyingNode.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const quantity = (number: number) => `0x${number.toString(16)}`
const isAbout = ({ method, params }: NodeCall, tag: string) =>
  method === 'eth_getBlockByNumber' && params[0] === tag
/** The tag answered as if it were at another height. */
const at =
  (tag: string, height: number): TellCall =>
  async (call, truth) =>
    isAbout(call, tag) ? truth({ ...call, params: [quantity(height), ...call.params.slice(1)] }) : undefined
const numberOf = ({ params }: NodeCall): number => Number(params[0])
const refused = (code: number, message: string): NodeAnswer => ({ error: { code, message } })

const lies: Readonly<Record<string, TellCall>> = {
  'a head that goes back (L8)': at('latest', HEAD - 12),
  'finality that goes back (L9)': at('finalized', 3),
  'finality above the head (L9)': async (call, truth) =>
    isAbout(call, 'latest') ? truth({ ...call, params: [quantity(HEAD - FINALITY - 4), false] }) : undefined,
  'an endpoint that is behind and has no block at our finality (L10)': async (call) =>
    call.method === 'eth_getBlockByNumber' && numberOf(call) > HEAD - 15 ? { result: null } : undefined,
  'answers said to be too large (L13)': async (call) =>
    call.method === 'eth_getBlockReceipts' && numberOf(call) % 3 > 0
      ? refused(-32_005, 'response too large')
      : undefined,
  'a limit of the range (L13)': async (call) =>
    call.method === 'eth_getBlockReceipts' && numberOf(call) > HEAD
      ? refused(-32_602, 'block range is too large, limited to 1')
      : undefined,
  'another chain id (L15)': async ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined),
  'another genesis (L15)': async (call, truth) =>
    call.method === 'eth_getBlockByNumber' && numberOf(call) === 0
      ? truth({ ...call, params: ['0x1', ...call.params.slice(1)] })
      : undefined,
}

/** Replaced blocks, all of them above finality. */
const REORG_DEPTH = 4

/** Answers by height from what it told before, as a cache in front of a node does. */
function cachingNode(node: LyingNode): { readonly fill: () => Promise<void>; readonly tell: TellCall } {
  const cached = new Map<string, NodeAnswer>()
  const keyOf = ({ method, params }: NodeCall) => `${method} ${Number(params[0])} ${params[1] === true}`
  return {
    async fill() {
      for (let number = HEAD - REORG_DEPTH; number <= HEAD; number++)
        for (const [method, ...more] of [
          ['eth_getBlockByNumber', true],
          ['eth_getBlockByNumber', false],
          ['eth_getBlockReceipts'],
        ] as const) {
          const call = { id: 0, method, params: [quantity(number), ...more] }
          cached.set(keyOf(call), await node.truth(call))
        }
    },
    tell: async (call) => cached.get(keyOf(call)),
  }
}

describe('a node that lies about its chain', () => {
  const node = new LyingNode()
  beforeAll(() => node.open())
  afterAll(() => node.close())

  async function expectFollowed(liedTo: LiedTo): Promise<void> {
    await expect.poll(() => liedTo.coverage('postgres'), healed).toEqual([{ from: 0, to: HEAD }])
  }

  /** A busy machine may need longer to the first lie than the lie would last. */
  const expectTold = () => expect.poll(() => node.told, healed).toBeGreaterThan(0)

  /** Blocks that are final during the lie are true, and all of them afterwards. */
  async function expectHealed(liedTo: LiedTo): Promise<void> {
    const { postgres, schema } = liedTo.indexed
    await new Promise((resolve) => setTimeout(resolve, LIE_MS))
    const finalized = (await readLane(postgres.pool, schema))?.finalized ?? -1
    expect(finalized).toBeLessThanOrEqual(LAST - FINALITY)
    await liedTo.expectTrue(finalized)
    node.beHonest()
    await liedTo.expectWhole()
  }

  test.each(Object.entries(lies))('%s, at the backfill', async (_, tell) => {
    const liedTo = await node.openLiedTo({ besideHonest: true })
    node.tell = tell
    await liedTo.indexed.chain.start()
    await node.replay.control('replay_advance', LAST - HEAD)
    await expectTold()
    await expectHealed(liedTo)
  })

  test.each(Object.entries(lies))('%s, at the tip', async (name, tell) => {
    const liedTo = await node.openLiedTo({ besideHonest: true })
    node.beHonest()
    await liedTo.indexed.chain.start()
    await expectFollowed(liedTo)
    node.tell = tell
    await node.replay.control('replay_advance', LAST - HEAD)
    // Identity is asked for when an endpoint is met, which is before the lie begins.
    if (!name.includes('L15')) await expectTold()
    await expectHealed(liedTo)
  })

  test.each([
    ['the only one', false],
    ['beside one that is not', true],
  ])('answers of before a reorg from a cache (L7), %s, at the backfill and at the tip', async (_, honest) => {
    for (const when of ['backfill', 'tip']) {
      const liedTo = await node.openLiedTo({ besideHonest: honest, checks: 'links' })
      const cache = cachingNode(node)
      await cache.fill()
      if (when === 'tip') {
        await liedTo.indexed.chain.start()
        await expectFollowed(liedTo)
      }
      node.tell = cache.tell
      liedTo.recorded.advanceTo(HEAD)
      liedTo.recorded.reorg(REORG_DEPTH)
      liedTo.recorded.advanceTo(LAST)
      await node.replay.control('replay_reorg', REORG_DEPTH)
      await node.replay.control('replay_advance', LAST - HEAD)
      if (when === 'backfill') await liedTo.indexed.chain.start()
      await expect.poll(() => node.told, healed).toBeGreaterThan(0)
      await expectHealed(liedTo)
    }
  })
})

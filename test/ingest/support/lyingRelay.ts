/** The real relay over nodes in memory that say of the chain's end what a test tells them to. */
import { onTestFinished } from 'vitest'
import type { FinalityRule } from '#ingest/finality/rules/finalityRule.ts'
import { openRelay } from '#ingest/relay/openRelay.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { type BlockRef, hash } from '#primitives.ts'
import { silentLogger } from '#telemetry.ts'
import { ManualClock } from './clock.ts'
import { FakeChain } from './fakeChain.ts'
import { FAR } from './lyingHeads.ts'
import { memoryNodes, type TellBlock } from './memoryNodes.ts'
import { seededRandom } from './random.ts'

export const HEAD = 200
export const FINAL = 190

/** A block that is not in the chain. */
export const block = (number: number, digit = 'b'): BlockRef => ({
  number,
  hash: hash(`0x${digit.repeat(24)}${number.toString(16).padStart(40, '0')}`),
  parentHash: hash(
    `0x${digit.repeat(24)}${Math.max(0, number - 1)
      .toString(16)
      .padStart(40, '0')}`,
  ),
})

/** A relay over these hosts; `told` says what each of them tells in place of the truth. */
export function relayOver(hosts: readonly string[], finality?: (agreed: FinalityRule) => FinalityRule) {
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
export const behind =
  (chain: FakeChain, blocks: number): TellBlock =>
  (at) => {
    const top = Math.max(0, chain.head.number - blocks)
    if (at === 'latest') return chain.blocks[top]
    if (at === 'finalized' || at === 'safe') return chain.blocks[Math.min(chain.finalized, top)]
    return Number(at) > top ? null : undefined
  }

/** A node's lies. */
export const lies: readonly ((chain: FakeChain) => TellBlock)[] = [
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
export const MADE_UP = 8

/** Number of the block that `latest` is answered with. */
export const newestOf = async (relay: Relay, within: <T>(asked: Promise<T>) => Promise<T>) => {
  const call = { method: 'eth_getBlockByNumber', params: '["latest",false]' }
  const wish = { height: -1, newest: true, asksAll: false }
  const answer = await within(relay.ask(call, wish, new AbortController().signal))
  return Number(JSON.parse(answer.text).number)
}

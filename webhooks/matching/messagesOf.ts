/** The messages that the events of a piece become, made while they are stored. */
import { hash as toHash } from '#primitives.ts'
import type { Message } from '#rows/webhooks/messages.ts'
import type { FinalBlocks } from '#store/ledger/lane.ts'
import { eventId as eventIdOf } from '#transform/events/eventId.ts'
import type { Facts, PieceChain } from '../events/eventType.ts'
import { type FoundEvent, type FoundEvents, receiversOf, sum, takenUpTo } from './lookForEvents.ts'

/** Symbols and decimals of tokens, as far as they are known. */
export type ReadTokens = (
  tokens: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, { readonly symbol: string; readonly decimals: number | null }>>

/** The stored part of a piece: as many of its blocks as are good to commit together. */
export interface PieceMessages {
  readonly blocks: FoundEvents['blocks']
  readonly count: number
  /** In the order of the chain; each is made when it is taken. */
  readonly messages: Iterable<Message>
}

/**
 * Characters of data in one piece: written in a second or two, while whoever changes a subscription
 * waits. A block that has more is a piece of its own.
 */
const CHARACTERS_MAX = 32 * 1024 * 1024

/** One message for each event and subscription. */
export async function messagesOf(
  found: FoundEvents,
  chain: PieceChain,
  final: FinalBlocks,
  readTokens: ReadTokens,
  signal: AbortSignal,
): Promise<PieceMessages> {
  const { events, transactions } = found
  const named = [...new Set(events.flatMap(({ needs: { token } }) => token ?? []))]
  const tokens = named.length > 0 ? await readTokens(named, signal) : new Map()
  const facts: Facts = { chain, tokens, transactions }
  const byBlock = Map.groupBy(events, ({ blockNumber }) => blockNumber)
  const ofBlocks = found.blocks.map(({ number }) => byBlock.get(number) ?? [])
  const taken = takenUpTo(ofBlocks, CHARACTERS_MAX, (block) =>
    sum(block, (event) => charactersOf(event, facts)),
  )
  const kept = ofBlocks.slice(0, taken).flat()
  return {
    blocks: found.blocks.slice(0, taken),
    count: sum(kept, receiversOf),
    messages: { [Symbol.iterator]: () => eachMessage(kept, facts, final) },
  }
}

function* eachMessage(events: readonly FoundEvent[], facts: Facts, final: FinalBlocks): Generator<Message> {
  for (const { type, blockNumber, blockHash, index, kind, receivers } of events) {
    const named = kind === undefined ? type : `${type}/${kind}`
    const eventId = eventIdOf(facts.chain.chainId, toHash(blockHash), named, index)
    const shared = { eventId, type, block: { number: blockNumber, hash: blockHash }, index }
    for (const { subscribers, data } of receivers)
      for (const { id: webhookId, finality } of subscribers)
        yield {
          ...{ webhookId, ...shared, data: data(facts) },
          waitsForFinality: finality === 'finalized' && !final.has(blockNumber),
        }
  }
}

const charactersOf = ({ receivers }: FoundEvent, facts: Facts): number =>
  sum(receivers, ({ subscribers, data }) => subscribers.length * data(facts).length)

/** The events of a piece of a chain, and the messages they become. */
import { hash as toHash } from '#primitives.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import { type TransactionDetail, withPayloads } from '#store/read/transactions.ts'
import type { Message } from '#store/webhooks/messages.ts'
import { type PieceTables, readPiece } from '#store/webhooks/pieces.ts'
import type { Subscribed } from '#store/webhooks/subscriptions.ts'
import { eventId } from '#transform/events/eventId.ts'
import {
  type EventType,
  type Facts,
  type Found,
  type PieceChain,
  type PresentTransaction,
  transactionKey,
  type Watch,
} from '../events/eventType.ts'

/** Symbols and decimals of tokens, as far as they are known. */
export type ReadTokens = (
  tokens: readonly string[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, { readonly symbol: string; readonly decimals: number }>>

/** Subscriptions of a chain, by what they look for. */
export interface Watches {
  readonly watches: readonly { readonly type: EventType; readonly watch: Watch<Subscribed> }[]
  readonly tables: ReadonlySet<keyof PieceTables>
}

/** What was found in a piece; its data is read with it, in one snapshot. */
export interface FoundEvents {
  readonly events: readonly (Found<Subscribed> & { readonly type: string; readonly blockHash: string })[]
  readonly transactions: ReadonlyMap<string, TransactionDetail>
}

export function watchesOf(types: readonly EventType[], subscriptions: readonly Subscribed[]): Watches {
  const byType = Map.groupBy(subscriptions, ({ eventType }) => eventType)
  const watched = types.filter(({ type }) => byType.has(type))
  return {
    watches: watched.map((type) => ({
      type,
      watch: type.watch(
        (byType.get(type.type) ?? []).map((subscriber) => ({ subscriber, filters: subscriber.filters })),
      ),
    })),
    tables: new Set(watched.map(({ table }) => table)),
  }
}

/** Reads the piece and finds its events, in the order of the chain. */
export async function lookForEvents(
  client: Queryable,
  { schema, finalized }: { readonly schema: string; readonly finalized: number },
  blocks: PieceTables['blocks'],
  { watches, tables }: Watches,
  chain: PieceChain,
): Promise<FoundEvents> {
  const rows = await readPiece(client, schema, blocks, tables)
  const hashes = new Map(blocks.map(({ num, hash }) => [Number(num), hash]))
  const events = watches
    .flatMap(({ type, watch }) =>
      watch.find(rows, chain).map((found) => ({
        ...found,
        type: type.type,
        blockHash: hashes.get(found.blockNumber) ?? '',
        receivers: found.receivers.filter(({ subscriber }) => subscriber.activeFrom <= found.blockNumber),
      })),
    )
    .filter(({ receivers }) => receivers.length > 0)
    .sort((a, b) => a.blockNumber - b.blockNumber || a.index - b.index)
  const wanted = new Set(
    events.flatMap(({ needs: { transaction } }) =>
      transaction ? transactionKey(transaction.blockNumber, transaction.index) : [],
    ),
  )
  const rowsWanted = rows.txs.filter(({ block_num, idx }) =>
    wanted.has(transactionKey(Number(block_num), idx)),
  )
  const details = await withPayloads(client, { schema, finalized }, rowsWanted)
  return {
    events,
    transactions: new Map(
      details.map((detail) => [transactionKey(Number(detail.row.block_num), detail.row.idx), detail]),
    ),
  }
}

/** One for each event and subscription. */
export async function messagesOf(
  { events, transactions }: FoundEvents,
  chain: PieceChain,
  finalized: number,
  readTokens: ReadTokens,
  presentTransaction: PresentTransaction,
  signal: AbortSignal,
): Promise<Message[]> {
  const named = [...new Set(events.flatMap(({ needs: { token } }) => token ?? []))]
  const tokens = named.length > 0 ? await readTokens(named, signal) : new Map()
  const facts: Facts = { chain, tokens, transactions, presentTransaction }
  return events.flatMap(({ type, blockNumber, blockHash, index, receivers }) => {
    const id = eventId(chain.chainId, toHash(blockHash), type, index)
    return receivers.map(({ subscriber, data }) => ({
      webhookId: subscriber.id,
      eventId: id,
      type,
      block: { number: blockNumber, hash: blockHash },
      index,
      data: data(facts),
      waitsForFinality: subscriber.finality === 'finalized' && blockNumber > finalized,
    }))
  })
}

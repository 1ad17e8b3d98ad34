/** The events of a piece of a chain, for those who want them. */

import type { Subscribed } from '#rows/webhooks/subscriptions.ts'
import type { FinalBlocks, Queryable } from '#store/ledger/lane.ts'
import { type PieceTables, readPiece, rowsByBlock } from '#store/read/pieces.ts'
import { type TransactionDetail, withPayloads } from '#store/read/transactions.ts'
import {
  type EventType,
  type PieceChain,
  type ReceivedEvent,
  transactionKey,
  type Watch,
} from '../events/eventType.ts'

/** Subscriptions of a chain, by what they look for. */
export interface Watches {
  readonly watches: readonly { readonly type: EventType; readonly watch: Watch<Subscribed> }[]
  readonly tables: ReadonlySet<keyof PieceTables>
}

/** The events in a piece; their data is read with it, in one snapshot. */
export interface FoundEvents {
  /** Those looked through: fewer than given where they make too many messages. */
  readonly blocks: readonly { readonly number: number; readonly hash: string }[]
  readonly events: readonly FoundEvent[]
  readonly transactions: ReadonlyMap<string, TransactionDetail>
}

export type FoundEvent = ReceivedEvent<Subscribed> & { readonly type: string; readonly blockHash: string }

/** Messages of one piece; a block that makes more is a piece of its own. */
const MESSAGES_MAX = 10_000

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

/** The store of a chain, and its final blocks as they are told. */
interface FinalChain {
  readonly schema: string
  readonly final: FinalBlocks
}

/** Reads the piece and finds its events, in the order of the chain. */
export async function lookForEvents(
  client: Queryable,
  state: FinalChain,
  blocks: PieceTables['blocks'],
  { watches, tables }: Watches,
  chain: PieceChain,
): Promise<FoundEvents> {
  const rows = await readPiece(client, state.schema, blocks, tables)
  const found = rowsByBlock(rows).map((block) => eventsOf(block, watches, chain))
  const taken = takenUpTo(found, MESSAGES_MAX, (events) => sum(events, receiversOf))
  const events = found.slice(0, taken).flat()
  return {
    blocks: blocks.slice(0, taken).map(({ num, hash }) => ({ number: Number(num), hash })),
    events,
    transactions: await readNeeded(client, state, events, rows.txs),
  }
}

function eventsOf(rows: PieceTables, watches: Watches['watches'], chain: PieceChain): readonly FoundEvent[] {
  const [block] = rows.blocks
  if (!block) return []
  const [number, blockHash] = [Number(block.num), block.hash]
  return watches
    .flatMap(({ type: { type }, watch }) =>
      watch.find(rows, chain).map((found) => ({
        ...found,
        ...{ type, blockHash },
        receivers: found.receivers
          .map(({ subscribers, data }) => ({
            subscribers: subscribers.filter(({ activeFrom }) => activeFrom <= number),
            data,
          }))
          .filter(({ subscribers }) => subscribers.length > 0),
      })),
    )
    .filter(({ receivers }) => receivers.length > 0)
    .sort((a, b) => a.index - b.index)
}

async function readNeeded(
  client: Queryable,
  state: FinalChain,
  events: readonly FoundEvent[],
  txs: PieceTables['txs'],
): Promise<FoundEvents['transactions']> {
  const wanted = new Set(
    events.flatMap(({ needs: { transaction } }) =>
      transaction ? transactionKey(transaction.blockNumber, transaction.index) : [],
    ),
  )
  const rows = txs.filter(({ block_num, idx }) => wanted.has(transactionKey(Number(block_num), idx)))
  const details = await withPayloads(client, state, rows)
  return new Map(
    details.map((detail) => [transactionKey(Number(detail.row.block_num), detail.row.idx), detail]),
  )
}

/** How many blocks, from the first on, stay within a limit together: one at least. */
export function takenUpTo<Block>(
  blocks: readonly Block[],
  limit: number,
  costOf: (block: Block) => number,
): number {
  let cost = 0
  const over = blocks.findIndex((block) => {
    cost += costOf(block)
    return cost > limit
  })
  return over === -1 ? blocks.length : Math.max(1, over)
}

export const receiversOf = ({ receivers }: FoundEvent): number =>
  sum(receivers, ({ subscribers }) => subscribers.length)

export const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0)

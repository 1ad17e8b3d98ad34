/** Looks through blocks of the past for the events of one subscription, piece by piece. */
import type { BlockRange } from '#ingest/range.ts'
import type { Subscribed } from '#rows/webhooks/subscriptions.ts'
import { readSnapshot } from '#store/cancel.ts'
import { type FinalBlocks, finalIn } from '#store/ledger/lane.ts'
import { readCovered, readPieceBlocks, readToldFinal } from '#store/read/pieces.ts'
import { findEventType } from '../events/index.ts'
import { assertFilters } from '../filters/eventFilter.ts'
import { type FoundEvents, lookForEvents, watchesOf } from '../matching/lookForEvents.ts'
import { messagesOf, type PieceMessages } from '../matching/messagesOf.ts'
import type { WatchedChain } from '../matching/watchedChain.ts'

export interface Watching {
  readonly webhookId: string
  readonly eventType: string
  readonly filters: unknown
}

/** One piece of a range. */
export interface Piece {
  readonly final: FinalBlocks
  readonly found: FoundEvents
}

/** The blocks from the start of a range on, as far as they are held; null where none are. */
export function lookAgain(
  { chain, schema, postgres }: WatchedChain,
  { webhookId, eventType, filters }: Watching,
  { from, to }: BlockRange,
  onlyFinal: boolean,
  signal: AbortSignal,
): Promise<Piece | null> {
  const type = findEventType(eventType)
  if (!type) return Promise.resolve(null)
  const asked = assertFilters(filters)
  const subscribed: Subscribed = {
    ...{ id: webhookId, eventType, filters: asked, finality: 'latest', activeFrom: 0 },
  }
  return readSnapshot(postgres, signal, async (client) => {
    const told = await readToldFinal(client, schema, { chainId: chain.chainId, stream: type.stream })
    const final = finalIn(told)
    const covered = (await readCovered(client, schema, type.stream)).find(
      (range) => range.from <= from && from <= range.to,
    )
    const finalTo = told && final.has(from) ? told.to : -1
    const last = Math.min(to, covered?.to ?? -1, onlyFinal ? finalTo : to)
    if (last < from) return null
    const blocks = await readPieceBlocks(client, schema, { from, to: last })
    if (blocks.length === 0) return null
    const found = await lookForEvents(
      client,
      { schema, final },
      blocks,
      watchesOf([type], [subscribed]),
      chain,
    )
    return { final, found }
  })
}

export const messagesOfPiece = (
  { chain, readTokens }: WatchedChain,
  { found, final }: Piece,
  signal: AbortSignal,
): Promise<PieceMessages> => messagesOf(found, chain, final, readTokens, signal)

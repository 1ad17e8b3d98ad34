/** Operations on replays, for the API. */
import { failure } from '#errors.ts'
import { type BlockRange, covers } from '#ingest/range.ts'
import type { AppDatabase } from '#rows/database.ts'
import { newTimedId } from '#rows/identifiers.ts'
import type { Message } from '#rows/webhooks/messages.ts'
import {
  countOpen,
  endReplay,
  findReplay,
  insertReplay,
  type Replay,
  type ReplayOf,
  readFailed,
} from '#rows/webhooks/replays.ts'
import type { Subscription } from '#rows/webhooks/subscriptions.ts'
import type { Clock } from '#runtime/runtime.ts'
import { readOnce } from '#store/cancel.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { FinalBlocks } from '#store/ledger/lane.ts'
import { readCovered } from '#store/read/pieces.ts'
import { writeEnvelope } from '../envelope.ts'
import { findEventType, streamOfType } from '../events/index.ts'
import type { FoundEvents } from '../matching/lookForEvents.ts'
import type { WatchedChain } from '../matching/watchedChain.ts'
import { lookAgain, messagesOfPiece } from './lookAgain.ts'

export interface ReplaysOptions {
  readonly app: AppDatabase
  readonly chains: ReadonlyMap<number, WatchedChain>
  readonly outgoing: CommitBell
  readonly clock: Clock
}

/** Blocks of one replay. */
export const REPLAY_BLOCKS_MAX = 1_000_000
/** Envelopes that a rehearsal shows. */
const SHOWN_MAX = 5
/** A rehearsal counts for so long; the rest of its range is left out, and it says so. */
const REHEARSAL_MS = 20_000

/** A replay, and how much of it is still open. */
export interface Progress {
  readonly replay: Replay
  readonly open: number
}

/** The messages that a replay would send. */
export interface Rehearsal {
  readonly count: number
  /** The first events, as texts. */
  readonly envelopes: readonly string[]
  /** The last block that was counted; null for failed deliveries. */
  readonly countedTo: number | null
  readonly isComplete: boolean
}

export class Replays {
  readonly #options: ReplaysOptions

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /** @throws ReplayUnderWayError, NotCoveredError, NotReplayableError */
  async start(subscription: Subscription, of: ReplayOf, signal: AbortSignal): Promise<Progress> {
    const { app, clock, outgoing } = this.#options
    if (of.kind === 'blocks') await this.#assertCovered(subscription, of, signal)
    const id = newTimedId('whr', clock.now())
    const replay = await insertReplay(app, { id, webhookId: subscription.id, of })
    if (!replay) throw new ReplayUnderWayError()
    outgoing.ring()
    return { replay, open: 0 }
  }

  /** Counts, and sends nothing. @throws NotCoveredError, NotReplayableError */
  async rehearse(subscription: Subscription, of: ReplayOf, signal: AbortSignal): Promise<Rehearsal> {
    if (of.kind === 'failed') return this.#rehearseFailed(subscription, of.since)
    const chain = await this.#assertCovered(subscription, of, signal)
    return this.#rehearseBlocks(subscription, chain, of, signal)
  }

  /** The newest; null when there was none. */
  async find(webhookId: string): Promise<Progress | null> {
    const { app } = this.#options
    const replay = await findReplay(app, webhookId)
    return replay && { replay, open: await countOpen(app, replay.id) }
  }

  /** Null when none is under way. */
  async end(webhookId: string): Promise<Progress | null> {
    const replay = await endReplay(this.#options.app, webhookId)
    return replay && { replay, open: 0 }
  }

  async #rehearseFailed(subscription: Subscription, since: Date): Promise<Rehearsal> {
    const { app } = this.#options
    const { id: webhookId, chainId, eventType } = subscription
    const of = { webhookId, chainId, stream: streamOfType(eventType) }
    const { count, first } = await readFailed(app, of, since, SHOWN_MAX)
    const envelopes = first.map((message) => this.#envelopeOf(subscription, message, message.isFinal))
    return { count, envelopes, countedTo: null, isComplete: true }
  }

  async #rehearseBlocks(
    subscription: Subscription,
    chain: WatchedChain,
    { from, to }: BlockRange,
    signal: AbortSignal,
  ): Promise<Rehearsal> {
    const { clock } = this.#options
    const untilMs = clock.monotonic() + REHEARSAL_MS
    const { id: webhookId, eventType, filters } = subscription
    const envelopes: string[] = []
    let [count, countedTo] = [0, from - 1]
    while (countedTo < to && clock.monotonic() < untilMs) {
      const rest = { from: countedTo + 1, to }
      const piece = await lookAgain(chain, { webhookId, eventType, filters }, rest, false, signal)
      if (!piece) break
      const { found, final } = piece
      count += found.events.length
      const shown = firstOf(found, SHOWN_MAX - envelopes.length)
      const { messages } = await messagesOfPiece(chain, { found: shown, final }, signal)
      for (const message of messages)
        envelopes.push(this.#envelopeOf(subscription, message, isIn(final, message)))
      countedTo = found.blocks.at(-1)?.number ?? to
    }
    return { count, envelopes, countedTo, isComplete: countedTo >= to }
  }

  #envelopeOf({ chainId, context }: Subscription, message: Message, isFinal: boolean): string {
    const { block } = message
    return writeEnvelope({
      ...message,
      ...{ chainId, context, sequence: null, replay: null, createdAt: new Date(this.#options.clock.now()) },
      block: block && { ...block, isFinal },
    })
  }

  async #assertCovered(
    { chainId, eventType }: Subscription,
    range: BlockRange,
    signal: AbortSignal,
  ): Promise<WatchedChain> {
    const chain = this.#options.chains.get(chainId)
    const type = findEventType(eventType)
    if (!chain || !type?.isOnChain) throw new NotReplayableError(eventType)
    const covered = await readOnce(chain.postgres, signal, (client) =>
      readCovered(client, chain.schema, type.stream),
    )
    if (!covers(covered, range)) throw new NotCoveredError(range)
    return chain
  }
}

const isIn = (final: FinalBlocks, { block }: Message): boolean => block !== null && final.has(block.number)

const firstOf = (found: FoundEvents, count: number): FoundEvents => ({
  ...found,
  events: found.events.slice(0, count),
})

/** A subscription has one replay at a time. */
export class ReplayUnderWayError extends failure('ReplayUnderWayError', 'replay_under_way', 'stop') {
  constructor() {
    super('A replay of this subscription is under way.')
  }
}

/** Blocks that are asked for are not held. */
export class NotCoveredError extends failure('NotCoveredError', 'coverage_incomplete', 'stop') {
  constructor({ from, to }: BlockRange) {
    super(`Not all blocks from ${from} to ${to} are held.`)
  }
}

/** Events of this type are in no block. */
export class NotReplayableError extends failure('NotReplayableError', 'body_invalid', 'stop') {
  constructor(eventType: string) {
    super(`Events of the type ${eventType} are in no block: only failed deliveries can be replayed.`)
  }
}

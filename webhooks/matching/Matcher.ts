/**
 * Looks through a chain for the events of its subscriptions: block after block from its position,
 * each a child of the one before, under a lease. What it finds and its position are one commit, so
 * nothing is lost or found twice, however it ends. Commits only wake it: not all blocks are in
 * their log, and some of what it takes back comes back unchanged.
 */
import { failure, MillraceError, messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  insertMessages,
  insertTellings,
  type Message,
  releaseFinal,
  restoreAgain,
  retractFrom,
} from '#rows/webhooks/messages.ts'
import {
  claimPosition,
  deleteWalkedFrom,
  insertWalked,
  lockPosition,
  movePosition,
  type Position,
  readPosition,
} from '#rows/webhooks/positions.ts'
import { subscribedTo } from '#rows/webhooks/subscriptions.ts'
import { FencedOutError } from '#runtime/lease.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock, Failpoint } from '#runtime/runtime.ts'
import { readOnce, readSnapshot } from '#store/cancel.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import { finalIn, type Queryable, readRef } from '#store/ledger/lane.ts'
import {
  findFork,
  headPlace,
  PIECE_BLOCKS_MAX,
  readCovered,
  readFinalFrom,
  readPieceBlocks,
  readStill,
  type ScanPlace,
  type Stream,
  type StreamOf,
  walkedBelow,
} from '#store/read/pieces.ts'
import type { Logger } from '#telemetry.ts'
import { ATTEMPTS_MAX } from '../delivery/schedule.ts'
import { eventTypesOf } from '../events/index.ts'
import { type FoundEvents, lookForEvents, type Watches, watchesOf } from './lookForEvents.ts'
import { messagesOf } from './messagesOf.ts'
import { restorationOf, retractionOf } from './tellings.ts'
import type { WatchedChain } from './watchedChain.ts'

export interface MatcherOptions extends WatchedChain {
  readonly stream: Stream
  readonly app: AppDatabase
  readonly fence: bigint
  /** Rings when there may be more of the stream. */
  readonly bell: CommitBell
  /** Rung when there is something to send. */
  readonly outgoing: CommitBell
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly log: Logger
}

/** How long to wait without a wake-up; bounds the delay when another process commits. */
const POLL_MS = 500
const RETRY_MS = 1_000
/** A piece takes seconds: one that takes this long stands in the way, though nothing has failed yet. */
const STEP_MS = 2 * 60_000

export class Matcher {
  readonly #options: MatcherOptions
  readonly #of: StreamOf
  readonly #typeNames: readonly string[]
  #watches: Watches & { readonly version: number } = { watches: [], tables: new Set(), version: -1 }
  #problem: string | null = null
  /** Blocks of a piece: fewer after a failure, for what was too much at once may be none in parts. */
  #blocksMax = PIECE_BLOCKS_MAX
  #steppedMs: number | null = null

  constructor(options: MatcherOptions) {
    this.#options = options
    this.#of = { chainId: options.chain.chainId, stream: options.stream }
    this.#typeNames = eventTypesOf(options.stream).map(({ type }) => type)
  }

  /** Why it does not move, or null. */
  get problem(): string | null {
    const { clock } = this.#options
    if (this.#problem !== null || this.#steppedMs === null) return this.#problem
    const seconds = Math.floor((clock.monotonic() - this.#steppedMs) / 1_000)
    return seconds * 1_000 < STEP_MS ? null : `a piece has been looked through for ${seconds} s`
  }

  /** Moves until aborted. @throws FencedOutError when another process has taken over */
  async run(signal: AbortSignal): Promise<void> {
    const { bell, clock } = this.#options
    await repeat({ clock, signal, failed: (error) => this.#failed(error) }, async () => {
      const { rings } = bell
      this.#steppedMs = clock.monotonic()
      const moved = await this.step(signal)
      this.#steppedMs = null
      this.#problem = null
      this.#blocksMax = Math.min(PIECE_BLOCKS_MAX, 2 * this.#blocksMax)
      if (!moved) await bell.wait(clock, POLL_MS, signal, rings)
      return 0
    })
  }

  /** Less the next time. @throws FencedOutError */
  #failed(error: unknown): number {
    if (error instanceof FencedOutError) throw error
    this.#problem = messageOf(error)
    this.#blocksMax = Math.max(1, Math.floor(this.#blocksMax / 2))
    const isExpected = error instanceof MillraceError && error.remedy === 'retry'
    this.#options.log[isExpected ? 'warn' : 'error']({ ...this.#of, problem: this.#problem }, 'webhooks wait')
    return RETRY_MS
  }

  /** Takes the position over. */
  async begin(): Promise<void> {
    const { app, postgres, schema, fence } = this.#options
    await app
      .transaction()
      .execute((transaction) => lockPosition(transaction, this.#of, () => headPlace(postgres.pool, schema)))
    await claimPosition(app, this.#of, fence)
  }

  /** One commit; false when there is nothing to do. */
  async step(signal: AbortSignal): Promise<boolean> {
    const position = await readPosition(this.#options.app, this.#of)
    if (!position) throw new TypeError('a matcher begins before it moves')
    await this.#learn(position)
    const seen = await this.#see(position, signal)
    switch (seen.kind) {
      case 'nothing':
        return seen.finalized > position.finalized ? this.#tellFinality(position, seen.finalized) : false
      case 'fork':
        return this.#goBack(position, seen.at, seen.to)
      case 'piece':
        return this.#goOn(position, seen, signal)
    }
  }

  /** Reads the subscriptions where they have changed. */
  async #learn({ subscriptions: version }: Position): Promise<void> {
    if (this.#watches.version === version) return
    const types = eventTypesOf(this.#of.stream)
    const subscriptions = await subscribedTo(this.#options.app, this.#of.chainId, this.#typeNames)
    this.#watches = { ...watchesOf(types, subscriptions), version }
  }

  /** Most commits that wake it bring nothing for it. */
  async #see(position: Position, signal: AbortSignal): Promise<Seen> {
    const { postgres, schema } = this.#options
    const finalized = await readOnce(postgres, signal, (client) =>
      readStill(client, schema, this.#of.stream, position),
    )
    if (finalized !== null) return { kind: 'nothing', finalized }
    return readSnapshot(postgres, signal, (client) => this.#look(client, position))
  }

  async #look(client: Queryable, position: Position): Promise<Seen> {
    const { schema, chain } = this.#options
    const finalized = Math.max(position.finalized, await readFinalFrom(client, schema, position.number))
    const held = position.hash === null ? null : await readRef(client, schema, position.number)
    if (position.hash !== null && held?.hash !== position.hash) {
      const fork = await findFork(client, schema, this.#of)
      const at = fork ?? (held ? position.number : null)
      if (at === null) return { kind: 'nothing', finalized }
      return { kind: 'fork', at, to: await walkedBelow(client, this.#of, at) }
    }
    const next = position.number + 1
    const coverage = await readCovered(client, schema, this.#of.stream)
    const to = coverage.find((range) => range.from <= next && next <= range.to)?.to
    if (to === undefined) return { kind: 'nothing', finalized }
    if (this.#watches.watches.length === 0) {
      const last = await readRef(client, schema, to)
      if (!last) throw new UnlinkedError(schema, to)
      return { kind: 'piece', found: { blocks: [last], events: [], transactions: new Map() }, finalized }
    }
    const blocks = await readPieceBlocks(client, schema, { from: next, to }, this.#blocksMax)
    assertLinked(schema, position, blocks)
    return {
      kind: 'piece',
      found: await lookForEvents(client, { schema, final: upTo(finalized) }, blocks, this.#watches, chain),
      finalized,
    }
  }

  async #goOn(position: Position, piece: Piece, signal: AbortSignal): Promise<boolean> {
    const { app, chain, fence, failpoint, readTokens } = this.#options
    const { found, finalized } = piece
    const made = await messagesOf(found, chain, upTo(finalized), readTokens, signal)
    const last = made.blocks.at(-1)
    if (!last) throw new TypeError('a piece has blocks')
    const rings = await app.transaction().execute(async (transaction) => {
      if (!(await this.#move(transaction, position, last, finalized, fence))) return false
      failpoint('webhooks.match.moved')
      await insertMessages(transaction, made.messages, {
        known: (again) => this.#restore(transaction, again),
      })
      failpoint('webhooks.match.messages')
      await insertWalked(transaction, this.#of, made.blocks)
      failpoint('webhooks.match.walked')
      const released = await releaseFinal(transaction, chain.chainId, this.#typeNames, finalized)
      failpoint('webhooks.match.commit')
      return released > 0 || made.count > 0
    })
    failpoint('webhooks.match.done')
    if (rings) this.#options.outgoing.ring()
    return true
  }

  /** Events that were taken back, and are true again. */
  async #restore(transaction: AppDatabase, again: readonly Message[]): Promise<void> {
    const sent = await restoreAgain(transaction, again, ATTEMPTS_MAX)
    await insertTellings(transaction, sent.map(restorationOf))
  }

  /** Another block is held at a height that was looked through. */
  async #goBack(position: Position, at: number, to: ScanPlace): Promise<boolean> {
    const { app, chain, fence, failpoint } = this.#options
    await app.transaction().execute(async (transaction) => {
      if (!(await this.#move(transaction, position, to, position.finalized, fence))) return
      for await (const sent of retractFrom(transaction, chain.chainId, this.#typeNames, at))
        await insertTellings(transaction, sent.map(retractionOf))
      await deleteWalkedFrom(transaction, this.#of, at)
      failpoint('webhooks.retract.commit')
    })
    this.#options.outgoing.ring()
    return true
  }

  async #tellFinality(position: Position, finalized: number): Promise<boolean> {
    const { app, chain, fence } = this.#options
    const released = await app.transaction().execute(async (transaction) => {
      if (!(await this.#move(transaction, position, position, finalized, fence))) return 0
      return releaseFinal(transaction, chain.chainId, this.#typeNames, finalized)
    })
    if (released > 0) this.#options.outgoing.ring()
    return true
  }

  #move(transaction: AppDatabase, from: Position, to: ScanPlace, finalized: number, fence: bigint) {
    return movePosition(transaction, this.#of, {
      from,
      to,
      finalized: Math.max(finalized, from.finalized),
      fence,
    })
  }
}

interface Piece {
  readonly kind: 'piece'
  readonly found: FoundEvents
  readonly finalized: number
}

type Seen =
  | Piece
  | { readonly kind: 'nothing'; readonly finalized: number }
  | { readonly kind: 'fork'; readonly at: number; readonly to: ScanPlace }

/** Blocks that are looked through are linked to the position, and so to what is final from there on. */
const upTo = (finalized: number) => finalIn({ from: 0, to: finalized })

function assertLinked(
  schema: string,
  position: Position,
  blocks: readonly { readonly num: number | bigint; readonly hash: string; readonly parent_hash: string }[],
): void {
  let parent: ScanPlace = position
  for (const block of blocks) {
    const number = Number(block.num)
    const isChild = parent.hash === null || parent.hash === block.parent_hash
    if (number !== parent.number + 1 || !isChild) throw new UnlinkedError(schema, number)
    parent = { number, hash: block.hash }
  }
  if (blocks.length === 0) throw new UnlinkedError(schema, position.number + 1)
}

/** A block that is covered is not held, or not a child of the one before: what is read is changing. */
export class UnlinkedError extends failure('UnlinkedError', 'blocks_unlinked', 'retry') {
  constructor(schema: string, number: number) {
    super(`${schema}: block ${number} does not follow what was looked through`)
  }
}

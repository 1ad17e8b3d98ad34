/**
 * Queues the events of replays, under a lease: a piece of a range and the place behind it are one
 * commit, so a process that ends loses nothing and queues nothing twice.
 */

import { MillraceError, messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  countOpen,
  finishReplay,
  type OpenReplay,
  openReplays,
  queueFailed,
  queuePiece,
} from '#rows/webhooks/replays.ts'
import { FencedOutError } from '#runtime/lease.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock, Failpoint } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { Logger } from '#telemetry.ts'
import type { WatchedChain } from '../matching/watchedChain.ts'
import { lookAgain, messagesOfPiece } from './lookAgain.ts'

export interface ReplayerOptions {
  readonly app: AppDatabase
  readonly chains: ReadonlyMap<number, WatchedChain>
  /** Rings when something was sent, and when a replay was asked for. */
  readonly outgoing: CommitBell
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly log: Logger
}

const POLL_MS = 1_000
const RETRY_MS = 1_000
/** Replays looked at in one turn. */
const REPLAYS_MAX = 200
/** Messages of one replay that wait or are sent; more are queued when fewer are left. */
const OPEN_MAX = 1_000
/** Failed messages of one piece. */
const FAILED_MAX = 500

export class Replayer {
  readonly #options: ReplayerOptions

  constructor(options: ReplayerOptions) {
    this.#options = options
  }

  async run(signal: AbortSignal): Promise<void> {
    const { app, outgoing, clock, log } = this.#options
    const failed = (error: unknown) => {
      if (error instanceof FencedOutError) throw error
      log.warn({ problem: messageOf(error) }, 'replays wait')
      return RETRY_MS
    }
    await repeat({ clock, signal, failed }, async () => {
      const rung = outgoing.wait(clock, POLL_MS, signal)
      const moved = await this.#turn(await openReplays(app, REPLAYS_MAX), signal)
      if (!moved) await rung
      return 0
    })
  }

  /** One piece of each; a replay that cannot go on holds up no other. */
  async #turn(replays: readonly OpenReplay[], signal: AbortSignal): Promise<boolean> {
    let moved = false
    for (const replay of replays) {
      if (signal.aborted) return false
      moved = (await this.#tryStep(replay, signal)) || moved
    }
    return moved
  }

  async #tryStep(replay: OpenReplay, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.step(replay, signal)
    } catch (error) {
      if (!(error instanceof MillraceError && error.remedy === 'retry')) throw error
      this.#options.log.warn({ replay: replay.id, problem: error.message }, 'a replay waits')
      return false
    }
  }

  /** True when it went on. */
  async step(replay: OpenReplay, signal: AbortSignal): Promise<boolean> {
    const { app } = this.#options
    const open = await countOpen(app, replay.id)
    if (replay.status === 'sending') {
      if (open === 0) await finishReplay(app, replay.id)
      return false
    }
    if (open >= OPEN_MAX) return false
    return replay.of.kind === 'failed'
      ? this.#queueFailed(replay, replay.of.since)
      : this.#queueBlocks(replay, replay.of.to, signal)
  }

  async #queueFailed(replay: OpenReplay, since: Date): Promise<boolean> {
    const { app, outgoing, failpoint } = this.#options
    const queued = await app.transaction().execute(async (transaction) => {
      const count = await queueFailed(transaction, replay, since, FAILED_MAX)
      failpoint('webhooks.replay.commit')
      return count
    })
    outgoing.ring()
    return queued !== null
  }

  /** Final blocks alone: what is sent once more is never taken back. */
  async #queueBlocks(replay: OpenReplay, to: number, signal: AbortSignal): Promise<boolean> {
    const { app, chains, outgoing, failpoint } = this.#options
    const chain = chains.get(replay.chainId)
    const { next } = replay
    if (!chain || next === null) return false
    const piece = await lookAgain(chain, replay, { from: next, to }, true, signal)
    if (!piece) return false
    const { blocks, count, messages } = await messagesOfPiece(chain, piece, signal)
    const last = blocks.at(-1)
    if (!last) throw new TypeError('a piece has blocks')
    const place = { next: last.number + 1, isLast: last.number >= to }
    const queued = await app.transaction().execute(async (transaction) => {
      const isMine = await queuePiece(transaction, replay, place, messages, count)
      failpoint('webhooks.replay.commit')
      return isMine
    })
    outgoing.ring()
    return queued
  }
}

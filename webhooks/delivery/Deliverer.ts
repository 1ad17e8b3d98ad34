/**
 * Sends what waits: first attempts in each subscription's order, further ones and replays in lanes
 * of their own. Any number of processes do this beside each other; what one of them has claimed and
 * not told the outcome of is another's after a minute.
 */

import type { Egress } from '#egress/Egress.ts'
import { type Reply, unanswered } from '#egress/post.ts'
import { messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import { newTimedId } from '#rows/identifiers.ts'
import type { Sealer } from '#rows/sealing.ts'
import {
  type Attempt,
  type Claimed,
  type ClaimWish,
  claimDue,
  claimFirst,
  dueSubscriptions,
  insertAttempts,
  keepClaim,
  releaseClaim,
  type Waiting,
  waitingSubscriptions,
} from '#rows/webhooks/claims.ts'
import type { DeliveryOutcome, Disabled } from '#rows/webhooks/outcomes.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { writeEnvelope } from '../envelope.ts'
import { streamsOfTypes } from '../events/index.ts'
import { OutcomeWriter } from './OutcomeWriter.ts'
import { type Lane, placeOf, Shares } from './Shares.ts'
import { ATTEMPTS_MAX, retryInMs } from './schedule.ts'
import { send } from './send.ts'

export interface DelivererOptions {
  readonly app: AppDatabase
  readonly sealer: Sealer
  readonly egress: Egress
  /** Rings when there is something to send. */
  readonly outgoing: CommitBell
  readonly disabled: (subscriptions: readonly Disabled[]) => Promise<void>
  readonly runtime: Runtime
  readonly log: Logger
}

/** How long to wait without a wake-up; bounds the delay when another process has the events. */
const POLL_MS = 500
const RETRY_MS = 1_000
/**
 * Attempts claimed ahead of an endpoint's requests, so that it need not wait for the next claim; of
 * all endpoints as many as requests may be under way, so that each is sent before its claim ends.
 */
const AHEAD = 12
/** An attempt that waited longer in this process is looked at again before it is sent. */
const LOOK_AGAIN_MS = 500
/** Further attempts looked at together, where there are no more of any endpoint. */
const DUE_MAX = 256
/**
 * Attempts whose sender ended before the answer, after which an event is given up: it may be what
 * ends them. Sixteen restarts in the middle of one event are no accident.
 */
const LOST_MAX = 16

interface Work {
  readonly claimed: Claimed
  readonly delivery: string
  readonly body: string
  readonly receiver: Waiting
  readonly lane: Lane
  readonly claimedMs: number
}

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #shares: Shares
  readonly #outcomes: OutcomeWriter
  /** Claimed, by lane, endpoint and owner, and waiting for its turn. */
  readonly #queues = new Map<string, Work[]>()
  readonly #sending = new Set<Promise<void>>()
  /** The last subscription of each lane that something was claimed for: the next turn begins behind it. */
  readonly #turns = { live: '', replay: '' }
  readonly #attempts = { succeeded: 0, failed: 0 }

  constructor(options: DelivererOptions) {
    this.#options = options
    const { app, runtime, log, disabled, outgoing } = options
    this.#shares = new Shares(runtime.clock)
    this.#outcomes = new OutcomeWriter({ app, runtime, log, disabled, written: () => outgoing.ring() })
  }

  get underWay(): number {
    return this.#shares.underWay
  }

  /** Ended ones, since the start. */
  get attempts(): { readonly succeeded: number; readonly failed: number } {
    return { ...this.#attempts }
  }

  /** Sends until aborted; what is under way then is finished. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#keepClaiming(() => this.#claimFirst('live', signal), signal),
      this.#keepClaiming(() => this.#claimFirst('replay', signal), signal),
      this.#keepClaiming(() => this.#claimDue(signal), signal),
    ])
    await Promise.all([...this.#sending])
    await this.#outcomes.settled()
  }

  async #keepClaiming(claim: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    const { runtime, log, outgoing } = this.#options
    const { clock } = runtime
    const failed = { log, ms: RETRY_MS, message: 'deliveries wait' }
    await repeat({ clock, signal, failed }, async () => {
      const rung = outgoing.wait(clock, POLL_MS, signal)
      if (!(await claim())) await rung
      return 0
    })
  }

  /** True when there may be more to claim at once. */
  async #claimFirst(of: 'live' | 'replay', signal: AbortSignal): Promise<boolean> {
    const { app } = this.#options
    const lane = of === 'live' ? 'first' : 'replay'
    const waiting = await waitingSubscriptions(app, of)
    const receivers = new Map(waiting.map((one) => [one.webhookId, one]))
    const wishes = this.#wishes(inTurn(waiting, this.#turns[of]), lane)
    const last = wishes.at(-1)
    if (!last || signal.aborted) return false
    this.#turns[of] = last.webhookId
    const work = await this.#commit(lane, receivers, (transaction) =>
      claimFirst(transaction, wishes, of, streamsOfTypes),
    )
    this.#begin(work, signal)
    return work.length > 0
  }

  /** Messages to claim together: all of them have room, or wait a moment for an endpoint that answers. */
  #wishes(waiting: readonly Waiting[], lane: Lane): readonly ClaimWish[] {
    const trial = this.#shares.trial()
    let ahead = trial.capacity - this.#waiting()
    const wishes: ClaimWish[] = []
    for (const receiver of waiting) {
      if (this.#queues.has(queueOf(receiver, lane))) continue
      const isStrict = receiver.isStrict && lane === 'first'
      const room = Math.min(trial.room(receiver, lane), isStrict ? 1 : Number.POSITIVE_INFINITY)
      if (room === 0) continue
      for (let taken = 0; taken < room; taken++) trial.take(receiver, lane)
      const more = isStrict || !trial.mayWait(receiver) ? 0 : Math.max(0, Math.min(ahead, AHEAD))
      wishes.push({ webhookId: receiver.webhookId, count: room + more })
      ahead -= more
    }
    return wishes
  }

  /** Claimed, and not begun. */
  #waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0)
  }

  async #claimDue(signal: AbortSignal): Promise<boolean> {
    const { app } = this.#options
    const due = await dueSubscriptions(app, DUE_MAX)
    const chosen = new Map<string, (typeof due)[number]>()
    const trial = this.#shares.trial()
    for (const one of due) {
      if (chosen.has(placeOf(one)) || trial.room(one, 'again') === 0) continue
      trial.take(one, 'again')
      chosen.set(placeOf(one), one)
    }
    if (chosen.size === 0 || signal.aborted) return false
    const receivers = new Map([...chosen.values()].map((one) => [one.webhookId, one]))
    const messages = [...chosen.values()].map(({ message }) => message)
    const work = await this.#commit('again', receivers, (transaction) =>
      claimDue(transaction, messages, streamsOfTypes),
    )
    this.#begin(work, signal)
    return work.length > 0
  }

  /** Claims, writes envelopes and attempts in one transaction. */
  async #commit(
    lane: Lane,
    receivers: ReadonlyMap<string, Waiting>,
    claim: (transaction: AppDatabase) => Promise<Claimed[]>,
  ): Promise<Work[]> {
    const { app, runtime } = this.#options
    const { clock, failpoint } = runtime
    const work = await app.transaction().execute(async (transaction) => {
      const claimed = await claim(transaction)
      if (claimed.length === 0) return []
      const attempts = claimed.map((one): Attempt => {
        const id = newTimedId('whd', clock.now())
        return { id, claimed: one, envelope: one.envelope === null ? writeEnvelope(one) : null }
      })
      failpoint('webhooks.claim.rows')
      await insertAttempts(transaction, attempts)
      failpoint('webhooks.claim.commit')
      return claimed.map((one, index) => ({ one, attempt: attempts[index] }))
    })
    failpoint('webhooks.claim.done')
    return work.flatMap(({ one, attempt }) => {
      const receiver = receivers.get(one.webhookId)
      const body = one.envelope ?? attempt?.envelope
      if (!receiver || !attempt || typeof body !== 'string') return []
      return { claimed: one, delivery: attempt.id, body, receiver, lane, claimedMs: clock.monotonic() }
    })
  }

  #begin(work: readonly Work[], signal: AbortSignal): void {
    for (const one of work) {
      const name = queueOf(one.receiver, one.lane)
      const queue = this.#queues.get(name)
      if (queue) queue.push(one)
      else this.#queues.set(name, [one])
    }
    this.#pump(signal)
  }

  /** Starts what there is room for, in the order in which it was claimed. */
  #pump(signal: AbortSignal): void {
    for (const [name, queue] of this.#queues) {
      for (let next = queue[0]; next; next = queue[0]) {
        if (this.#shares.room(next.receiver, next.lane) === 0) break
        queue.shift()
        this.#start(next, signal)
      }
      if (queue.length === 0) this.#queues.delete(name)
    }
  }

  #start(work: Work, signal: AbortSignal): void {
    const { receiver, lane } = work
    const taken = this.#shares.take(receiver, lane)
    const sent = this.#deliver(work, signal)
      .catch((error: unknown) => {
        // Only the claim was asked for or given back so far: it ends by itself, and is another's.
        this.#options.log.warn({ problem: messageOf(error) }, 'a claim could not be kept')
      })
      .finally(() => {
        this.#sending.delete(sent)
        this.#shares.give(taken)
        this.#pump(signal)
        this.#options.outgoing.ring()
      })
    this.#sending.add(sent)
  }

  async #deliver(work: Work, signal: AbortSignal): Promise<void> {
    const { app, runtime } = this.#options
    const { clock } = runtime
    const { claimed, delivery } = work
    const isLate = clock.monotonic() - work.claimedMs > LOOK_AGAIN_MS
    if (signal.aborted || (isLate && !(await keepClaim(app, claimed.message))))
      return releaseClaim(app, claimed.message, delivery)
    if (claimed.attempt === 1)
      metrics.webhookDelay.observe((clock.now() - claimed.createdAt.getTime()) / 1_000)
    const isLost = claimed.lost >= LOST_MAX
    const reply = isLost ? { ...unanswered, error: lostText } : await this.#send(work)
    const outcome = reply.succeeded ? 'succeeded' : 'failed'
    metrics.webhookAttempts.inc({ outcome })
    this.#attempts[outcome]++
    this.#outcomes.add(this.#outcomeOf(work, reply, isLost))
  }

  async #send({ claimed, body, receiver }: Work): Promise<Reply> {
    const { failpoint, clock } = this.#options.runtime
    const { sealedDestination: destination, ...sealed } = claimed
    failpoint('webhooks.send')
    // A delivery that was begun is ended: its own time is bounded.
    const reply = await send({ ...this.#options, clock }, { ...sealed, destination, body }, neverAborted)
    failpoint('webhooks.sent')
    this.#shares.answered(receiver.endpoint, reply.responseStatus !== null)
    if (reply.responseStatus === null) await this.#giveBack(receiver)
    return reply
  }

  /**
   * Gives back messages that wait for an endpoint that does not answer: they would wait longer than their
   * claim.
   */
  async #giveBack({ endpoint }: Waiting): Promise<void> {
    const waiting = [...this.#queues].filter(([, queue]) => queue[0]?.receiver.endpoint === endpoint)
    for (const [name] of waiting) this.#queues.delete(name)
    const queued = waiting.flatMap(([, queue]) => queue)
    for (const { claimed, delivery } of queued)
      await releaseClaim(this.#options.app, claimed.message, delivery)
  }

  #outcomeOf({ claimed, delivery }: Work, reply: Reply, isLost: boolean): DeliveryOutcome {
    const { succeeded, responseStatus, responseMs, error, retryAfterMs, isGone } = reply
    const isLast = succeeded || isGone || isLost || claimed.attempt >= ATTEMPTS_MAX
    return {
      delivery,
      message: claimed.message,
      webhookId: claimed.webhookId,
      succeeded,
      responseStatus,
      responseMs,
      error,
      retryInMs: isLast ? null : retryInMs(claimed.attempt, retryAfterMs, this.#options.runtime.random),
      counts: claimed.replay === null,
      isGone,
    }
  }
}

/** From the one behind the last that had its turn on. */
function inTurn(waiting: readonly Waiting[], last: string): readonly Waiting[] {
  const next = waiting.findIndex(({ webhookId }) => webhookId > last)
  return next === -1 ? waiting : [...waiting.slice(next), ...waiting.slice(0, next)]
}

const queueOf = (receiver: Waiting, lane: Lane): string => `${lane} ${placeOf(receiver)}`

const lostText = 'Senders of this event ended before the answer, again and again.'

const neverAborted = new AbortController().signal

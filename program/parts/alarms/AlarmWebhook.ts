/**
 * Posts alarms to the address their owner named, signed as Standard Webhooks 1.0.0 has it:
 * HMAC-SHA256 over `id.timestamp.body`. The address and the secret are in no log and no message:
 * chat services put a key into the path.
 */
import { createHash } from 'node:crypto'
import type { Egress } from '#egress/Egress.ts'
import { post } from '#egress/post.ts'
import { errnoOf } from '#errors.ts'
import { backoffMs } from '#runtime/backoff.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { standardHeaders } from '#webhooks/signature.ts'
import { aborted } from '../../process/stopSignal.ts'
import type { AlarmNote } from './AlarmWatch.ts'

/**
 * Tries of one note: with the waits between them, about a quarter of an hour of a receiver's
 * absence.
 */
const TRIES_MAX = 8
const retries = { baseMs: 2_000, maxMs: 300_000 }
/**
 * Notes that wait while the receiver is away. Conditions are few; beyond this the oldest tell the
 * least.
 */
const WAITING_MAX = 100

export interface AlarmWebhookOptions {
  /** Without login: egress takes none. */
  readonly url: string
  /** The login of the address, as a header has it. */
  readonly authorization?: string | null
  /** The bytes of `whsec_…`. */
  readonly secret: Uint8Array
  readonly egress: Pick<Egress, 'fetch'>
  readonly runtime: Pick<Runtime, 'clock' | 'random'>
  readonly log: Logger
}

export class AlarmWebhook {
  readonly #options: AlarmWebhookOptions
  readonly #waiting: AlarmNote[] = []
  #wake = Promise.withResolvers<void>()

  constructor(options: AlarmWebhookOptions) {
    this.#options = options
  }

  /** Takes a note to be sent; returns at once. */
  tell(note: AlarmNote): void {
    this.#waiting.push(note)
    if (this.#waiting.length > WAITING_MAX) this.#drop(this.#waiting.shift())
    this.#wake.resolve()
  }

  /** Sends notes in their order until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const ended = aborted(signal)
    await repeat({ clock: this.#options.runtime.clock, signal }, async () => {
      const note = this.#waiting.shift()
      if (note) await this.#send(note, signal)
      else {
        this.#wake = Promise.withResolvers()
        await Promise.race([this.#wake.promise, ended])
      }
      return 0
    })
  }

  /** The same id at every try, so that the receiver knows a repeat. */
  async #send(note: AlarmNote, signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#options
    let tries = 0
    await repeat({ clock: runtime.clock, signal }, async () => {
      const problem = await this.#post(note, signal)
      tries++
      if (problem === null) metrics.alarmDeliveries.inc({ outcome: 'delivered' })
      else if (tries >= TRIES_MAX) this.#drop(note)
      else {
        log.warn({ code: note.code, tries, problem }, 'an alarm could not be delivered; trying again')
        return backoffMs(tries, retries, runtime.random)
      }
      return 'ended'
    })
  }

  /** Null when the receiver took it. */
  async #post(note: AlarmNote, signal: AbortSignal): Promise<string | null> {
    const { url, authorization = null, secret, egress, runtime } = this.#options
    const timestampSeconds = Math.floor(runtime.clock.now() / 1_000)
    const { id, body } = messageFor(note)
    const headers = {
      'content-type': 'application/json',
      ...(authorization !== null && { authorization }),
      ...standardHeaders({ id, timestampSeconds, body }, [secret]),
    }
    try {
      const reply = await post(egress, { url, headers, body, purpose: 'alarm' }, runtime.clock, signal)
      if (reply.succeeded) return null
      return reply.responseStatus === null ? reasonOf(reply.cause) : `it answered ${reply.responseStatus}`
    } catch (error) {
      return reasonOf(error)
    }
  }

  #drop(note: AlarmNote | undefined): void {
    if (!note) return
    metrics.alarmDeliveries.inc({ outcome: 'dropped' })
    this.#options.log.error({ code: note.code }, 'an alarm could not be delivered')
  }
}

/** Codes and names alone: texts of errors may repeat the address. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return errnoOf(cause) ?? (cause instanceof Error ? cause.name : 'no answer')
}

/** The message: the same bytes and the same id at every try. */
function messageFor({ type, chainId, code, problem, sinceMs }: AlarmNote): { id: string; body: string } {
  const since = new Date(sinceMs).toISOString()
  const body = JSON.stringify({ type, timestamp: since, data: { chainId, code, problem, since } })
  const digest = createHash('sha256').update(`${type}|${chainId}|${code}|${sinceMs}`).digest('hex')
  return { id: `msg_${digest.slice(0, 32)}`, body }
}

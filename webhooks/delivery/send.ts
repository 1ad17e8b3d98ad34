/** One attempt, from what is stored sealed to what became of it. */
import type { Egress } from '#egress/Egress.ts'
import { post, type Reply, unanswered } from '#egress/post.ts'
import { messageOf } from '#errors.ts'
import type { Sealer } from '#rows/sealing.ts'
import { openSecret, openTarget } from '#rows/webhooks/subscriptions.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { requestTo } from '../destinations.ts'

export interface Sending {
  readonly sealer: Sealer
  readonly egress: Egress
  readonly clock: Clock
  readonly log: Logger
}

/** A message and its receiver, as they are stored. */
export interface Sealed {
  readonly webhookId: string
  readonly eventId: string
  readonly type: string
  readonly body: string
  readonly destination: Uint8Array
  readonly secret: Uint8Array
  /** The former secret while it still signs. */
  readonly previousSecret: Uint8Array | null
}

/**
 * A message that cannot be opened or sent has failed: its owner sees it, and it ends like any other
 * failure.
 * @throws the signal's reason when it is aborted: nobody knows then what the endpoint did
 */
export async function send(
  { sealer, egress, clock, log }: Sending,
  sealed: Sealed,
  signal: AbortSignal,
): Promise<Reply> {
  const { webhookId, eventId, type, body } = sealed
  const failed = (error: string, cause: unknown): Reply => {
    log.error({ webhookId, eventId, problem: messageOf(cause) }, 'an event could not be sent')
    return { ...unanswered, error }
  }
  let opened: Opened
  try {
    opened = open(sealer, sealed)
  } catch (cause) {
    return failed(unopenableText, cause)
  }
  const timestampSeconds = Math.floor(clock.now() / 1_000)
  try {
    const outgoing = { id: eventId, type, body, timestampSeconds, secrets: opened.secrets }
    const request = requestTo(opened.target, outgoing)
    return await post(egress, { ...request, purpose: 'webhook' }, clock, signal)
  } catch (cause) {
    signal.throwIfAborted()
    return failed('The event could not be sent.', cause)
  }
}

const unopenableText =
  'The subscription cannot be opened here: give its destination again and rotate its secret.'

interface Opened {
  readonly target: ReturnType<typeof openTarget>
  readonly secrets: readonly string[]
}

/** @throws SealBrokenError */
function open(sealer: Sealer, { webhookId, destination, secret, previousSecret }: Sealed): Opened {
  return {
    target: openTarget(sealer, webhookId, destination),
    secrets: [
      openSecret(sealer, webhookId, secret),
      ...(previousSecret ? openedOrNone(sealer, webhookId, previousSecret) : []),
    ],
  }
}

/** A secret that was exchanged because it cannot be opened signs nothing. */
function openedOrNone(sealer: Sealer, webhookId: string, sealed: Uint8Array): readonly string[] {
  try {
    return [openSecret(sealer, webhookId, sealed)]
  } catch {
    return []
  }
}

/** The answer of a request that pays for itself, and the end of its payment. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messageOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { RequestPayment } from '../request/access.ts'
import { sendChallenge } from './challenge.ts'

/** A request whose payment has begun. */
export interface PaidRead<Answer> {
  readonly payment: RequestPayment
  readonly read: () => Promise<Answer>
  /** Its effect stays, so its money comes before it is made. */
  readonly settlesFirst: boolean
}

/**
 * Unless it settles first, the answer is made before money is taken: what fails costs nothing, unless it
 * takes longer than its payment is valid.
 */
export async function paidAnswer<Answer>(
  { payment, read, settlesFirst }: PaidRead<Answer>,
  request: FastifyRequest,
  reply: FastifyReply,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Answer | 'challenged'> {
  const ended = (end: () => Promise<void>) =>
    void end().catch((error: unknown) =>
      log.error(
        { requestId: request.id, problem: messageOf(error) },
        'the end of a paid answer was not kept',
      ),
    )
  // A client that left while its payment was claimed closes no more.
  if (reply.raw.closed) {
    ended(payment.release)
    signal.throwIfAborted()
  }
  reply.raw.once('close', () => ended(endOf(payment, request, reply)))
  request.isPaid = true
  const early = settlesFirst ? await payment.settle() : null
  if (early?.kind === 'challenged') return sendChallenge(early, reply)
  const reading = read()
  if (!early) await madeOr(reading, payment.validUntilMs - SETTLING_MS, clock)
  const taken = early ?? (await payment.settle())
  if (taken.kind === 'challenged') return sendChallenge(taken, reply)
  reply.headers(taken.headers)
  return reading
}

/** A payment that is sent later than so long before its end may come too late for a block. */
const SETTLING_MS = 5_000
/** Longer than any read takes; timers have a bound of their own. */
const READ_MS_MAX = 10 * 60_000

/** Until the answer is there, or a moment has come. @throws what the read does by then */
async function madeOr(reading: Promise<unknown>, atMs: number, clock: Clock): Promise<void> {
  const made = new AbortController()
  const leftMs = Math.min(Math.max(atMs - clock.now(), 0), READ_MS_MAX)
  const late = clock.sleep(leftMs, made.signal).catch(() => {})
  try {
    await Promise.race([reading, late])
  } finally {
    made.abort()
  }
  // Nobody waits for it where its payment fails.
  reading.catch(() => {})
}

/** A stream that its client leaves is not opened again: it would be paid for once and last for a day. */
function endOf(payment: RequestPayment, { stream }: FastifyRequest, { raw }: FastifyReply) {
  if (stream) return stream.isWhole ? payment.over : payment.release
  return raw.writableFinished && raw.statusCode < 300 ? payment.answered : payment.release
}

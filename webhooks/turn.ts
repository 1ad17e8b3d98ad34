/** Consequences of a change of a subscription's status. */
import type { Change, Status, Subscription } from '#rows/webhooks/subscriptions.ts'

/** Blocks whose events were not looked for while a subscription was disabled. */
export interface Missed {
  readonly from: number
  readonly to: number
}

/** The effect of a change of status; `next` is the first block that is not looked through yet. */
export function turnTo(
  { status }: Subscription,
  to: Status,
  next: number,
): { readonly change: Change; readonly begins: boolean } {
  if (to === 'disabled')
    return {
      change: status === 'disabled' ? {} : { status: to, disabledFrom: next, disabledReason: 'requested' },
      begins: false,
    }
  const begins = status === 'disabled'
  return {
    change: {
      status: to,
      disabledFrom: null,
      disabledReason: null,
      ...(begins && { activeFrom: next }),
      ...(to === 'active' && { resets: true }),
    },
    begins,
  }
}

/** Blocks of which nothing was sent, up to the last that was looked through. */
export function missedOf(
  { disabledFrom }: Subscription,
  queuedFrom: number | null,
  begins: boolean,
  last: number,
): Missed | null {
  if (!begins) return null
  const from = Math.min(disabledFrom ?? last + 1, queuedFrom ?? last + 1)
  return from <= last ? { from, to: last } : null
}

/**
 * Whether a method can settle is asked again and again: in short while it is offered, at once where a
 * send casts doubt on it, and with pauses that grow while it is not.
 */
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'

/** Between two looks at what is not offered; each pause is twice the last one. */
const AGAIN_MS = 2_500
/** Well again, it is offered within a minute. */
const AGAIN_MS_MAX = 30_000
/** Sends that fail one after the other are one look in this time. */
const LOOK_MS_MIN = 500

export interface Checked {
  /** Why something is not offered, a sentence each. */
  readonly problems: readonly string[]
  /** Whether anything is, as the last look told. */
  readonly isOpen: boolean
  /** Between two looks meanwhile. */
  readonly everyMs: number
  /** Rings where a look is due before. */
  readonly doubted?: CommitBell
  check(): Promise<void>
}

/** Until aborted, one look at a time. The first one after a pause: the start has asked already. */
export async function recheck(checked: Checked, clock: Clock, signal: AbortSignal): Promise<void> {
  const { doubted = new CommitBell() } = checked
  let closed = checked.isOpen ? 0 : 1
  let { rings } = doubted
  await repeat({ clock, signal }, async () => {
    const pauseMs = closed > 0 ? Math.min(AGAIN_MS * 2 ** closed, AGAIN_MS_MAX) : checked.everyMs
    await clock.sleep(LOOK_MS_MIN, signal).catch(() => {})
    await doubted.wait(clock, pauseMs - LOOK_MS_MIN, signal, rings)
    if (signal.aborted) return 'ended'
    ;({ rings } = doubted)
    await checked.check()
    closed = checked.isOpen ? 0 : closed + 1
    return 0
  })
}

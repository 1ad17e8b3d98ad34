/** Whether a method can settle is asked again every hour, and sooner while something is missing. */
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

const CHECK_MS = 3_600_000
/** While the chain does not answer. */
const AGAIN_MS = 10_000

export interface Checked {
  /** Why something is not offered, a sentence each. */
  readonly problems: readonly string[]
  check(): Promise<void>
}

/** Until aborted. The first time after a pause: the start has asked already. */
export async function recheck(checked: Checked, clock: Clock, signal: AbortSignal): Promise<void> {
  const pauseMs = () => (checked.problems.length > 0 ? AGAIN_MS : CHECK_MS)
  await repeat({ clock, signal, firstMs: pauseMs() }, async () => {
    await checked.check()
    return pauseMs()
  })
}

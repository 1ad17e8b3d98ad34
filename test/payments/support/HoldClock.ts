/** Holds and streams end by a clock of ours, and repeats of a request wait by the system's. */
import { systemRuntime } from '#runtime/runtime.ts'
import { ManualClock } from '../../api/support/toolkitServer.ts'

/** The shortest of the times that a test moves on by. */
export const RENEW_MS = 5_000

export class HoldClock extends ManualClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return ms < RENEW_MS ? systemRuntime().clock.sleep(ms, signal) : super.sleep(ms, signal)
  }
}

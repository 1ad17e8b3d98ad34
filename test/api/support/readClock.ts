/**
 * The clock of an API whose reads wait for what is behind: without end, or not at all. Real time
 * would decide by the machine.
 */
import { type Clock, systemRuntime } from '#runtime/runtime.ts'

export interface ReadClock extends Clock {
  /** True: no time passes. False: whatever a read waits for, its time is over. */
  waits: boolean
}

export function readClock(): ReadClock {
  let nowMs = 0
  const clock: ReadClock = {
    ...systemRuntime().clock,
    waits: true,
    monotonic: () => {
      if (!clock.waits) nowMs += 60_000
      return nowMs
    },
  }
  return clock
}

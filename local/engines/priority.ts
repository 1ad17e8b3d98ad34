/** Who goes first on the machine's cores. */
import { constants, setPriority } from 'node:os'

/**
 * Puts a process behind all others: beside one that is busy it gets hardly more than a hundredth of a
 * core, alone a whole one. One that has ended, or is another user's, stays as it is.
 */
export function runBehindOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // Nothing depends on it but speed.
  }
}

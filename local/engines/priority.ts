/** The order of processes and threads on the machine's processors. */
import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/**
 * Puts a process behind all others: beside one that is busy it gets hardly more than a hundredth of a
 * core, alone a whole one. One that has ended, or is another user's, stays as it is.
 */
export function runBehindOthers(pid: number): void {
  const { PRIORITY_LOW } = constants.priority
  attempt(() => setPriority(pid, PRIORITY_LOW))
  // Where Linux shares time between sessions first, a process's own priority counts within its
  // session alone; a backend of Postgres has one to itself.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(PRIORITY_LOW), { flag: 'r+' }))
}

/** Only speed depends on it. */
function attempt(change: () => void): void {
  try {
    change()
  } catch {
    // Another system, or no right to do so.
  }
}

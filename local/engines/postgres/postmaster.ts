/**
 * The postmaster of one data directory, as its postmaster.pid tells: who it is, whether it lives,
 * how to end it.
 */

import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { identityOf, isAlive, type ProcessIdentity, psField, waitForExit } from '../processIdentity.ts'

/** A living postmaster. */
export interface Postmaster {
  readonly identity: ProcessIdentity
  readonly port: number
}

/**
 * The living postmaster of this data directory. The note of a dead one is removed: Postgres itself
 * only checks that some process has the pid, and would refuse to start when the number was given to
 * another process since.
 */
export function findPostmaster(pgData: string): Postmaster | undefined {
  const path = join(pgData, 'postmaster.pid')
  let lines: string[]
  try {
    lines = readFileSync(path, 'utf8').split('\n')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  // storage/pidfile.h: line 1 is the pid, line 4 the port.
  const pid = Number(lines[0])
  const port = Number(lines[3])
  const identity = identityOf(pid)
  if (pid > 0 && isAlive(identity) && isPostmaster(pid, pgData)) return { identity, port }
  rmSync(path, { force: true })
  return undefined
}

/** A postmaster works inside its data directory, and has it in its command line. */
function isPostmaster(pid: number, pgData: string): boolean {
  if (process.platform !== 'linux') return psField(pid, 'command')?.includes(`-D ${pgData}`) === true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(pgData)
  } catch {
    return false
  }
}

// Fast shutdown writes a checkpoint, which may take as long as the disk needs for the shared
// buffers.
const FAST_SHUTDOWN_MS = 60_000
// Immediate shutdown only ends processes; recovery replays the log at the next start.
const IMMEDIATE_SHUTDOWN_MS = 10_000

/**
 * Fast shutdown (roll back, checkpoint), and harder when that takes too long. Resolves when the
 * process is gone.
 */
export async function stopPostmaster(identity: ProcessIdentity, clock: Clock): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', IMMEDIATE_SHUTDOWN_MS],
  ] as const
  for (const [signal, waitMs] of steps) {
    if (!isAlive(identity)) return
    process.kill(identity.pid, signal)
    if (await waitForExit(identity, waitMs, clock)) return
  }
}

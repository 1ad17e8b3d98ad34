/**
 * Which process a pid on disk means. After a kill -9 the number may belong to somebody else (in a
 * container nearly always), so a pid is only trusted together with the moment its process started.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { errnoOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'

/** A process as written to disk or to a database. */
export interface ProcessIdentity {
  readonly pid: number
  /** The process's start as the system tells it; undefined where it does not. */
  readonly startedAt: string | undefined
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid)
}

/** The process that has this pid now. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startedAt: startOf(pid) }
}

/**
 * Whether the very process that was written down still lives. Falls back to liveness of the pid
 * where the system tells no start.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!pidExists(identity.pid)) return false
  const now = startOf(identity.pid)
  return identity.startedAt === undefined || now === undefined || now === identity.startedAt
}

/**
 * Within what the identities of two processes can be compared: a boot of a machine, and on Linux a
 * namespace of pids in it (proc(5)). Undefined where the system does not tell.
 */
export function processSpace(): string | undefined {
  try {
    if (process.platform === 'linux')
      return `${readText('/proc/sys/kernel/random/boot_id')?.trim()}/${readlinkSync('/proc/self/ns/pid')}`
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

const EXIT_POLL_MS = 20

/**
 * Whether the process ended within the time. It need not be our child, so there is no event to wait
 * for.
 */
export async function waitForExit(identity: ProcessIdentity, waitMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + waitMs
  while (isAlive(identity)) {
    if (clock.monotonic() >= deadline) return false
    await clock.sleep(EXIT_POLL_MS)
  }
  return true
}

/** The identity in a value read from disk; undefined when it is not one. */
export function parseIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value)) return undefined
  const { pid } = value
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined
  const startedAt = 'startedAt' in value && typeof value.startedAt === 'string' ? value.startedAt : undefined
  return { pid, startedAt }
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
  return !hasEnded(pid)
}

/** Ticks count from boot, so the boot id keeps a number from an earlier boot from matching. */
function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return psField(pid, 'lstart')
  const ticks = statFields(pid)?.[STAT_START_TIME]
  const bootId = readText('/proc/sys/kernel/random/boot_id')?.trim()
  return ticks && bootId ? `${bootId}/${ticks}` : undefined
}

/** The fields that ps tells of a process, if there is no /proc (macOS); undefined when it is gone. */
export function psField(pid: number, field: 'lstart' | 'command'): string | undefined {
  try {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' }
    return execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8', env }).trim()
  } catch {
    return undefined
  }
}

/**
 * A zombie of one thread has ended; only its parent has not looked yet. Further threads still hold
 * its files and ports.
 */
function hasEnded(pid: number): boolean {
  const fields = statFields(pid)
  return fields?.[STAT_STATE] === 'Z' && fields[STAT_THREADS] === '1'
}

// proc(5): fields after the command's closing parenthesis; state is field 3, num_threads field 20,
// starttime field 22.
const STAT_STATE = 0
const STAT_THREADS = 17
const STAT_START_TIME = 19

function statFields(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

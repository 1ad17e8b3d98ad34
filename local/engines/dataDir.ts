/**
 * The one directory the program owns on disk: created private, locked for one process, holding the
 * engines' data.
 */

import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, parse, resolve } from 'node:path'
import { errnoOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { asDataDirectoryError, DataDirectoryError } from './errors.ts'
import { isAlive, ownIdentity, type ProcessIdentity, parseIdentity } from './processIdentity.ts'

/** An exclusively held data directory. */
export interface DataDir {
  /** Absolute. */
  readonly path: string
  /** Gives the directory to the next process. Safe to call twice. */
  release(): void
}

/**
 * Creates the directory when missing and takes its lock. A lock left by a killed process is taken
 * over.
 * @throws DataDirectoryError when it is in use, not writable, full or not a directory.
 */
export function openDataDir(path: string): DataDir {
  const directory = resolve(path)
  try {
    makeDirectory(directory)
    if (!statSync(directory).isDirectory()) throw new DataDirectoryError(directory, 'not_a_directory')
    chmodSync(directory, directoryMode())
    const { bavail, bsize } = statfsSync(directory)
    if (bavail * bsize < FREE_BYTES_MIN) throw new DataDirectoryError(directory, 'full')
  } catch (error) {
    throw asDataDirectoryError(directory, error)
  }
  return { path: directory, release: takeLock(directory) }
}

/**
 * `recursive` of mkdirSync never ends below /proc, where a directory is missing that cannot be
 * made.
 */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another start made it just now.
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** How long a file system may take to show a directory; a disk that spins up takes some seconds. */
const ANSWER_MS_MAX = 20_000

/**
 * Looks at the directory in a process of its own: on a mount whose server is gone a call never
 * returns, and a process that waits for one cannot even exit. @throws DataDirectoryError when there
 * is no answer in time
 */
export async function assertAnswers(
  path: string,
  clock: Clock,
  look: readonly [command: string, ...args: string[]] = ['ls', '-A', '--', resolve(path)],
): Promise<void> {
  const [command, ...args] = look
  const child = spawn(command, args, { detached: true, stdio: 'ignore' })
  const done = new AbortController()
  // That it is missing or closed is said by what opens it.
  for (const event of ['exit', 'error']) child.once(event, () => done.abort())
  await clock.sleep(ANSWER_MS_MAX, done.signal).catch(() => {})
  if (done.signal.aborted) return
  child.unref()
  child.kill('SIGKILL')
  throw new DataDirectoryError(resolve(path), 'silent')
}

// A new Postgres cluster takes 40 MB and its log 256 MB; an engine that runs out of space while it
// starts says so less clearly than we can.
const FREE_BYTES_MIN = 512 * 1024 * 1024

/**
 * As root the Postgres server runs as `nobody` (it refuses root), so others may pass through, but
 * not list, the directory. Every file in it is readable by its owner only.
 */
function directoryMode(): number {
  return process.getuid?.() === 0 ? 0o711 : 0o700
}

/**
 * The nearest ancestor of `directory`, itself included, that others may not pass through; undefined
 * when none.
 */
export function findClosedAncestor(directory: string): string | undefined {
  const { root } = parse(directory)
  for (let path = resolve(directory); path !== root; path = dirname(path)) {
    if ((statSync(path).mode & 0o001) === 0) return path
  }
  return undefined
}

// Two processes that both find a stale lock race for it; the loser looks again. More rounds than
// this mean locks appear and go stale faster than they can be read, which is a broken file system.
const LOCK_ATTEMPTS_MAX = 5

function takeLock(directory: string): () => void {
  const lockPath = join(directory, 'lock')
  for (let attempt = 0; attempt < LOCK_ATTEMPTS_MAX; attempt += 1) {
    if (createExclusively(directory, lockPath)) return releaseOnce(lockPath)
    const holder = readHolder(lockPath) ?? removeStale(lockPath)
    if (holder !== undefined) throw new DataDirectoryError(directory, 'locked', { pid: holder.pid })
  }
  throw new DataDirectoryError(directory, 'unreadable')
}

/** Links a finished file into place, so that nobody ever reads half a lock. */
function createExclusively(directory: string, lockPath: string): boolean {
  const draft = `${lockPath}.${process.pid}`
  try {
    writeFileSync(draft, JSON.stringify(ownIdentity()), { mode: 0o600 })
    linkSync(draft, lockPath)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw asDataDirectoryError(directory, error)
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Moves the stale lock away before removing it: had another process just replaced it by its own, we
 * would hold that one now, and put it back. Returns the living holder in that case.
 */
function removeStale(lockPath: string): ProcessIdentity | undefined {
  const aside = `${lockPath}.stale.${process.pid}`
  try {
    renameSync(lockPath, aside)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw asDataDirectoryError(lockPath, error)
  }
  const holder = readHolder(aside)
  if (holder !== undefined) renameSync(aside, lockPath)
  else rmSync(aside, { force: true })
  return holder
}

/** The living process that holds the directory. */
export const findHolder = (path: string): ProcessIdentity | undefined =>
  readHolder(join(resolve(path), 'lock'))

/** The living process that holds the lock; undefined when the lock is gone, stale or not ours. */
function readHolder(lockPath: string): ProcessIdentity | undefined {
  let holder: ProcessIdentity | undefined
  try {
    holder = parseIdentity(JSON.parse(readFileSync(lockPath, 'utf8')))
  } catch {
    return undefined
  }
  return holder !== undefined && isAlive(holder) ? holder : undefined
}

function releaseOnce(lockPath: string): () => void {
  let held = true
  return () => {
    if (held) rmSync(lockPath, { force: true })
    held = false
  }
}

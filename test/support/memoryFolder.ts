/** A folder in memory for what tests write, where the machine has room for it. */
import { statfsSync } from 'node:fs'

/** Linux mounts it in memory; containers give it a few megabytes. */
const folder = '/dev/shm'
const TMPFS = 0x01021994
/** A run of `npm test` holds 1.5 GB at once, a program with a store of its own 0.2 GB. */
const BYTES_MIN = 4 * 2 ** 30

/**
 * Undefined where the machine has none or is short of memory. A process that is killed loses nothing
 * there: only a machine that goes down would, which no test plays.
 */
export function memoryFolder(): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(folder)
    const isRoomy = bavail * bsize > BYTES_MIN && process.availableMemory() > 2 * BYTES_MIN
    return type === TMPFS && isRoomy ? folder : undefined
  } catch {
    return undefined
  }
}

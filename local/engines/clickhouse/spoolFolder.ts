/** The folder in which rows lie as files on their way into the engine. */

import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Bytes of one insert; the indexer makes none larger (store/clickhouse/rowsFile.ts). What is in
 * memory-backed files counts against the machine's memory.
 */
export const ROWS_BYTES_MAX = 512 * 1024 * 1024

const SHARED_MEMORY = '/dev/shm'
// Containers come with 64 MB of it, less than a batch.
const SHARED_MEMORY_FREE_MIN = 2 * ROWS_BYTES_MAX

/**
 * Makes the folder and removes what a killed run left: in memory where the machine offers it, for
 * the rows are read back at once and never needed again. Called when nobody uses the folder, so
 * before the engine is started.
 */
export function clearSpoolFolder(dataPath: string): string {
  const name = createHash('sha256').update(dataPath).digest('hex').slice(0, 16)
  const inMemory = join(SHARED_MEMORY, `millrace-${name}`)
  const onDisk = join(dataPath, '..', 'spool')
  // Both are emptied: the killed run may have found other room than this one.
  rmSync(onDisk, { recursive: true, force: true })
  try {
    rmSync(inMemory, { recursive: true, force: true })
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    if (bavail * bsize >= SHARED_MEMORY_FREE_MIN) {
      // Fails where somebody made it meanwhile: everybody may, under a name that can be told, and
      // would own our rows.
      mkdirSync(inMemory, { mode: 0o700 })
      return inMemory
    }
  } catch {
    // No such file system here (macOS), or the folder is another user's.
  }
  mkdirSync(onDisk, { recursive: true, mode: 0o700 })
  return onDisk
}

/**
 * A folder under a name that can be told may be one that another user made meanwhile, who would own
 * our rows.
 */
export function assertOwned(folder: string, uid: number | undefined): void {
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== uid) throw new Error(`${folder} belongs to another user`)
}

/**
 * Rows on their way into an engine on this machine, as a file that it reads by itself. Through HTTP
 * the embedded engine's process copied them chunk by chunk between parser, streams and a file like
 * this one: a sixth of its CPU time.
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf, MillraceError, messageOf, type Remedy } from '#errors.ts'

/**
 * Bytes of one insert. The indexer's are some 40 MB, and no batch is larger than 96 MB but one of a
 * single block, whose answers are 128 MB at most. The embedded engine has room for as many
 * (local/engines/clickhouse/spoolFolder.ts).
 */
export const ROWS_BYTES_MAX = 512 * 1024 * 1024

/**
 * Calls `use` with the path of a file that holds the buffers one after the other; it is gone
 * afterwards.
 * @throws RowsFileError when it cannot be written; what `use` throws is passed on
 */
export async function withRowsFile(
  folder: string,
  buffers: readonly Uint8Array[],
  use: (path: string) => Promise<void>,
): Promise<void> {
  const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
  if (bytes > ROWS_BYTES_MAX) throw new RowsFileError(folder, 'too_large')
  const path = join(folder, crypto.randomUUID())
  try {
    if ((await writeRows(folder, path, buffers)) < bytes) throw new RowsFileError(folder, 'full')
    await use(path)
  } finally {
    await rm(path, { force: true })
  }
}

/** How many bytes were written: where room ends after the first of them, no error is raised. */
async function writeRows(folder: string, path: string, buffers: readonly Uint8Array[]): Promise<number> {
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      return (await file.writev(buffers)).bytesWritten
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new RowsFileError(folder, isFull(cause) ? 'full' : 'unwritable', { cause })
  }
}

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errnoOf(error) ?? '')

/**
 * Rows cannot be written to `folder` for the engine, which was not asked. The next try may find
 * room there; too many stay so.
 */
export class RowsFileError extends MillraceError {
  override readonly name = 'RowsFileError'
  readonly code: `rows_file_${RowsFileProblem}`
  readonly remedy: Remedy
  readonly folder: string

  constructor(folder: string, problem: RowsFileProblem, options?: ErrorOptions) {
    super(`rows for ClickHouse cannot be written to ${folder}: ${textOf(problem, options?.cause)}`, options)
    this.code = `rows_file_${problem}`
    this.remedy = problem === 'too_large' ? 'stop' : 'retry'
    this.folder = folder
  }
}

type RowsFileProblem = 'full' | 'too_large' | 'unwritable'

function textOf(problem: RowsFileProblem, cause: unknown): string {
  if (problem === 'full') return 'there is no room for them'
  if (problem === 'too_large') return `they are more than ${ROWS_BYTES_MAX} bytes`
  return messageOf(cause)
}

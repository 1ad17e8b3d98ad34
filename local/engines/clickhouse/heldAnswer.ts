/**
 * An answer that is held back until its query has ended, as `wait_end_of_query=1` wants it: the first
 * bytes in memory, as many as `buffer_size` says, the rest in a file without a name.
 */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { errnoOf } from '#errors.ts'
import { queryError } from './QueryError.ts'
import type { ThreadEvent } from './threadMessages.ts'

export interface HeldAnswerOptions {
  /** The path of the file that is made; its name is taken away at once. */
  readonly path: string
  readonly memoryBytes: number
  /** False when nobody waits any longer; asked with each piece. */
  readonly isWanted: () => boolean
}

/** The pieces of an answer, once the last one has come. @throws QueryError when the disk is full */
export async function* heldAnswer(
  events: AsyncIterable<ThreadEvent>,
  { path, memoryBytes, isWanted }: HeldAnswerOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  let memory: Uint8Array[] = []
  let bytes = 0
  let file: FileHandle | undefined
  try {
    for await (const event of events) {
      if (!isWanted()) return
      if (event.type !== 'chunk') continue
      memory.push(event.bytes)
      bytes += event.bytes.length
      if (bytes <= memoryBytes) continue
      file ??= await openNameless(path)
      for (const piece of memory) await write(file, piece)
      memory = []
      bytes = 0
    }
    if (file) yield* file.createReadStream({ start: 0, autoClose: false })
    yield* memory
  } finally {
    await file?.close()
  }
}

async function openNameless(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

async function write(file: FileHandle, piece: Uint8Array): Promise<void> {
  try {
    await file.appendFile(piece)
  } catch (error) {
    if (errnoOf(error) !== 'ENOSPC') throw error
    throw queryError('NOT_ENOUGH_SPACE', 'No space is left to hold the answer of this query.')
  }
}

/**
 * Takes request bodies in, decompressed and bounded: statements into memory, rows into a file the
 * engine reads.
 */

import { createWriteStream, mkdirSync, readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

import { errnoOf } from '#errors.ts'
import { QueryError, queryError } from './QueryError.ts'
import { assertOwned, ROWS_BYTES_MAX } from './spoolFolder.ts'

// A statement with its inline rows. More than that belongs in the body of a request with the
// statement in the URL.
const STATEMENT_BYTES_MAX = 16 * 1024 * 1024

/** The whole body in memory. @throws QueryError when it is too large or cannot be decompressed. */
export async function readStatementBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  const body = openBody(request, STATEMENT_BYTES_MAX)
  await body.read(async (source) => {
    for await (const chunk of source) chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

/** Files for rows on their way into the engine. */
export class Spool {
  readonly #folder: string
  #next = 0

  /**
   * Removes files that a killed child left behind. Others stay: the parent writes its own here,
   * also while a child starts.
   */
  constructor(folder: string) {
    this.#folder = folder
    // It is there, but for a child that is started again after one that ended well.
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    assertOwned(this.#folder, process.getuid?.())
    for (const name of readdirSync(this.#folder))
      if (spooledName.test(name)) this.remove(join(this.#folder, name))
  }

  /** Writes the rows to a new file; undefined when there are none. Remove the file after use. */
  async write(firstRows: Buffer, request: IncomingMessage | undefined): Promise<string | undefined> {
    this.#next += 1
    const path = join(this.#folder, String(this.#next))
    const file = createWriteStream(path, { mode: 0o600 })
    try {
      if (firstRows.length > 0) file.write(firstRows)
      if (request === undefined) await pipeline([], file)
      else await openBody(request, ROWS_BYTES_MAX).read((source) => pipeline(source, file))
    } catch (error) {
      file.destroy()
      this.remove(path)
      throw asBodyError(error)
    }
    if (file.bytesWritten > 0) return path
    this.remove(path)
    return undefined
  }

  remove(path: string): void {
    rmSync(path, { force: true })
  }

  /** Removes the folder. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Files of ours are numbered. */
const spooledName = /^[0-9]+$/

function openBody(request: IncomingMessage, bytesMax: number) {
  const decoder = decoderOf(request.headers['content-encoding'])
  const limit = limitBytes(bytesMax)
  // Read as an iterator that leaves the request open: after a refused body the client still gets
  // its answer.
  const source = request.iterator({ destroyOnReturn: false })
  const flow = decoder === undefined ? pipeline(source, limit) : pipeline(source, decoder, limit)
  return {
    async read(use: (source: Readable) => Promise<void>): Promise<void> {
      try {
        await Promise.all([flow, use(limit)])
      } catch (error) {
        throw asBodyError(error)
      }
    },
  }
}

function decoderOf(coding: string | undefined): Transform | undefined {
  switch (coding) {
    case undefined:
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'zstd':
      return createZstdDecompress()
    case 'br':
      return createBrotliDecompress()
    default:
      throw queryError('NOT_IMPLEMENTED', `Content-Encoding ${coding} is not supported.`)
  }
}

function limitBytes(bytesMax: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > bytesMax) done(queryError('LIMIT_EXCEEDED', `The body is larger than ${bytesMax} bytes.`))
      else done(null, chunk)
    },
  })
}

function asBodyError(error: unknown): unknown {
  if (error instanceof QueryError) return error
  const errno = errnoOf(error)
  if (errno?.startsWith('Z_') || errno?.startsWith('ZSTD_') || errno?.startsWith('ERR_')) {
    return queryError('CANNOT_DECOMPRESS', 'The body does not decompress.')
  }
  if (errno === 'ENOSPC')
    return queryError('NOT_ENOUGH_SPACE', 'No space is left for the rows of this insert.')
  return error
}

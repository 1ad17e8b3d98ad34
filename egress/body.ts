/** Bodies of answers: what they were packed by, and no more of them than was asked for. */
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { EgressFailedError, EgressRefusedError } from './errors.ts'

/**
 * Null for a body that is sent as it is. @throws EgressRefusedError for encodings that are not
 * read, and for several
 */
export function decoderOf(header: string | readonly string[] | undefined): Transform | null {
  const encoding = String(header ?? 'identity')
    .trim()
    .toLowerCase()
  switch (encoding) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      throw new EgressRefusedError('encoding')
  }
}

/** A decoder's output for a body; ends both when its reader stops. */
export async function* decoded(
  body: AsyncIterable<Uint8Array>,
  decoder: Transform,
): AsyncGenerator<Uint8Array> {
  const feeding = feed(body, decoder)
  try {
    for await (const piece of decoder) yield piece
    await feeding
  } finally {
    decoder.destroy()
    await feeding.catch(() => {})
  }
}

async function feed(body: AsyncIterable<Uint8Array>, decoder: Transform): Promise<void> {
  try {
    for await (const piece of body) {
      if (decoder.destroyed) return
      // A decoder that is destroyed while it is full never drains.
      if (!decoder.write(piece)) await drained(decoder)
    }
    decoder.end()
  } catch (error) {
    decoder.destroy(error instanceof Error ? error : new EgressFailedError('connection', error))
  }
}

const drained = (decoder: Transform): Promise<void> =>
  new Promise((resolve) => {
    decoder.once('drain', resolve)
    decoder.once('close', resolve)
  })

export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  cuts: boolean,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    pieces.push(piece)
    if (bytes <= bytesMax) continue
    if (!cuts) throw new EgressRefusedError('tooLong')
    break
  }
  return Buffer.concat(pieces).subarray(0, bytesMax)
}

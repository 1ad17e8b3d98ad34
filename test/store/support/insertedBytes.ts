/** The stream of an insert, held so that it can be sent again. */
import { Readable } from 'node:stream'

/** The inserted bytes, read once so that they can be sent again. */
export async function bytesOf(values: unknown): Promise<Buffer> {
  if (!(values instanceof Readable)) throw new TypeError('an insert has a stream of values')
  const parts: Buffer[] = []
  for await (const part of values) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

export const streamOf = (bytes: Buffer) => Readable.from([bytes], { objectMode: false })

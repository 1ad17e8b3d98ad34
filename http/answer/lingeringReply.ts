/**
 * An answer to a request whose body is still coming and is not wanted. A connection closed with
 * bytes unread is reset, and a client that sends all of its body before it looks would see that and
 * never the answer. So the answer goes out at once, and ends, which closes the connection, when the
 * body has ended or too much of it has come. The server's limit on the time of a request holds here
 * too.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** Thrown away for one answer: far more than any body we take, little for a network. */
const DRAINED_BYTES_MAX = 32 * 1024 * 1024

export function lingeringReply(text: string, incoming: IncomingMessage): Readable {
  return Readable.from(answerThenDrain(Buffer.from(text), incoming), { objectMode: false })
}

async function* answerThenDrain(answer: Buffer, incoming: IncomingMessage): AsyncGenerator<Buffer> {
  yield answer
  await drain(incoming)
}

async function drain(incoming: IncomingMessage): Promise<void> {
  const enough = Promise.withResolvers<void>()
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAINED_BYTES_MAX) enough.resolve()
  }
  incoming.on('data', count)
  try {
    // A client that goes meanwhile has ended its body as well.
    await Promise.race([finished(incoming, { writable: false }).catch(() => {}), enough.promise])
  } finally {
    incoming.off('data', count)
  }
}

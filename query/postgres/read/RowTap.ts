/**
 * Takes the rows of a statement out of a connection's bytes before the driver makes strings of
 * them; all other messages reach the driver as before. Framing: PostgreSQL manual, 54.7 (a type
 * byte, a length that counts itself, the rest).
 */

import { type ByteStream, streamOf } from './GuardedConnection.ts'

/** The destination of rows while a statement gives them. */
export interface RowSink {
  /**
   * The values of a DataRow message: a count, then for each a length, -1 for NULL, and its bytes.
   */
  takeRow(source: Buffer, start: number): void
}

const DATA_ROW = 0x44
const LENGTH_AT = 1
const HEADER_BYTES = 5

const taps = new WeakMap<object, RowTap>()

/**
 * The tap of an idle connection. @throws TypeError for a connection that is not the driver's own
 */
export function tapOf(client: object): RowTap {
  const known = taps.get(client)
  if (known) return known
  const stream = streamOf(client)
  if (!stream) throw new TypeError('the Postgres driver did not tell its socket')
  const tap = new RowTap(stream)
  taps.set(client, tap)
  return tap
}

export class RowTap {
  /**
   * Set by the reader of rows, when the driver has told their description; without one rows go to
   * the driver.
   */
  sink: RowSink | undefined
  readonly #stream: ByteStream
  readonly #forward: (bytes: Buffer) => void
  /** Bytes of a message passed on to the driver that have not come yet. */
  #passing = 0
  /** The beginning of a row, or of a header, and how many bytes tell more. */
  #held: Buffer[] = []
  #heldBytes = 0
  #wantedBytes = 0

  constructor(stream: ByteStream) {
    const driver = stream.listeners('data')
    stream.removeAllListeners('data')
    this.#stream = stream
    this.#forward = (bytes) => {
      for (const listener of driver) listener(bytes)
    }
    stream.on('data', (bytes) => this.#take(bytes))
  }

  /** Statements of `send` leave in one packet. */
  together<Sent>(send: () => Sent): Sent {
    this.#stream.cork()
    try {
      return send()
    } finally {
      this.#stream.uncork()
    }
  }

  /** Stops reading until `resume`: the server waits with the rest. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  #take(bytes: Buffer): void {
    const chunk = this.#heldBytes > 0 ? this.#joined(bytes) : bytes
    if (!chunk) return
    let driverFrom = 0
    let at = 0
    const forward = () => {
      if (driverFrom < at) this.#forward(chunk.subarray(driverFrom, at))
      driverFrom = at
    }
    while (at < chunk.length) {
      if (this.#passing > 0) {
        const passed = Math.min(this.#passing, chunk.length - at)
        this.#passing -= passed
        at += passed
        continue
      }
      const rest = chunk.length - at
      const size = rest < HEADER_BYTES ? HEADER_BYTES : LENGTH_AT + chunk.readUInt32BE(at + LENGTH_AT)
      const isRow = rest >= HEADER_BYTES && chunk[at] === DATA_ROW
      // The message before a row may be its description, upon which a sink is set.
      if (isRow) forward()
      if (rest >= HEADER_BYTES && !(isRow && this.sink)) {
        this.#passing = size
        continue
      }
      if (rest < size) {
        forward()
        this.#hold(chunk.subarray(at), size)
        return
      }
      this.sink?.takeRow(chunk, at + HEADER_BYTES)
      at += size
      driverFrom = at
    }
    forward()
  }

  #hold(bytes: Buffer, wantedBytes: number): void {
    this.#held = [bytes]
    this.#heldBytes = bytes.length
    this.#wantedBytes = wantedBytes
  }

  /** The held bytes with those that came, once they are enough. */
  #joined(bytes: Buffer): Buffer | undefined {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    if (this.#heldBytes < this.#wantedBytes) return undefined
    const joined = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return joined
  }
}

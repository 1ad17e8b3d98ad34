/**
 * Reads an engine's stderr line by line: keeps the last lines for error reports and lets a caller
 * wait for one.
 */

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import type { Logger } from '#telemetry.ts'

// Enough to show a failed start with its hint lines, short enough for a terminal.
const LINES_KEPT = 20

/** The last lines of a stream. */
export class LogTail {
  readonly #lines: string[] = []

  /** Reads to the end of the stream; `onLine` sees every line. */
  constructor(stream: Readable, log: Logger, engine: string, onLine?: (line: string) => void) {
    stream.on('error', () => {})
    createInterface({ input: stream }).on('line', (line) => {
      this.#lines.push(line)
      if (this.#lines.length > LINES_KEPT) this.#lines.shift()
      log.debug({ engine }, line)
      onLine?.(line)
    })
  }

  get lines(): readonly string[] {
    return [...this.#lines]
  }
}

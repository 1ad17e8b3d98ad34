/**
 * Result blocks on their way out of a thread, gathered so that a small result takes one message
 * between threads.
 */

import type { ThreadEvent } from './threadMessages.ts'

// A message costs each thread 0.3 ms (measured, more than formatting a small block), so small
// blocks go together; a slow query's first rows are not kept for long.
const HELD_BYTES_MAX = 64 * 1024
const HELD_MS_MAX = 100

/** The blocks not sent yet. */
export class HeldChunks {
  #chunks: ThreadEvent[] = []
  #bytes = 0
  #heldSince = 0

  /** Copies the block: the engine's memory cannot be given to another thread. */
  add(bytes: Uint8Array): void {
    if (this.#chunks.length === 0) this.#heldSince = performance.now()
    this.#chunks.push({ type: 'chunk', bytes: new Uint8Array(bytes) })
    this.#bytes += bytes.length
  }

  /** Whether they should be sent now. */
  get isDue(): boolean {
    return this.#bytes > HELD_BYTES_MAX || performance.now() - this.#heldSince > HELD_MS_MAX
  }

  /** All of them, no longer held. */
  take(): readonly ThreadEvent[] {
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    return chunks
  }
}

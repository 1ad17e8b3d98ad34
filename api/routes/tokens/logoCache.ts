/**
 * Logos fetched from other servers, kept for a while: a wallet that shows a list of tokens asks for
 * all of them, and the servers behind them are strangers. What had no picture is kept for a shorter
 * while.
 */
import type { Clock } from '#runtime/runtime.ts'

/** A picture a browser shows. */
export interface Image {
  readonly contentType: string
  readonly body: Buffer
}

/** A few hundred logos of usual size, or 32 of the largest. */
const BYTES_MAX = 16 * 1024 * 1024
/** What an entry takes beside its picture: its URI, of bounded length, and the map's own. */
const ENTRY_BYTES = 4_096
/** A token that changes its picture has it shown within the hour. */
const FOUND_MS = 3_600_000
/** A server that had none may have been down. */
const MISSING_MS = 60_000

interface Entry {
  readonly image: Image | null
  readonly untilMs: number
}

export class LogoCache {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #bytesMax: number
  /** Oldest first. */
  readonly #byUri = new Map<string, Entry>()
  #bytes = 0

  constructor(clock: Pick<Clock, 'monotonic'>, bytesMax: number = BYTES_MAX) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  get byteLength(): number {
    return this.#bytes
  }

  /**
   * What is kept of a URI, else what `fetch` finds; null where there is no picture. A `fetch` that
   * throws leaves nothing.
   */
  async read(uri: string, fetch: () => Promise<Image | null>): Promise<Image | null> {
    const kept = this.#byUri.get(uri)
    if (kept && this.#clock.monotonic() < kept.untilMs) return kept.image
    const image = await fetch()
    this.#drop(uri)
    this.#byUri.set(uri, { image, untilMs: this.#clock.monotonic() + (image ? FOUND_MS : MISSING_MS) })
    this.#bytes += bytesOf(image)
    for (const oldest of this.#byUri.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.#drop(oldest)
    }
    return image
  }

  #drop(uri: string): void {
    const entry = this.#byUri.get(uri)
    if (!entry) return
    this.#byUri.delete(uri)
    this.#bytes -= bytesOf(entry.image)
  }
}

const bytesOf = (image: Image | null): number => ENTRY_BYTES + (image?.body.length ?? 0)

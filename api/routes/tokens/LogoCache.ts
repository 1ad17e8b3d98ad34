/**
 * Logos fetched from other servers, kept for a while: a wallet that shows a list of tokens asks for
 * all of them, and the servers behind them are strangers. What had no picture is kept for a shorter
 * while.
 */
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'

/** A picture a browser shows. */
export interface Image {
  readonly contentType: string
  readonly body: Buffer
}

/** A few hundred logos of usual size, or 32 of the largest. */
const BYTES_MAX = 16 * 1024 * 1024
/** An entry's size beside its picture: its URI, of bounded length, and the map's own. */
const ENTRY_BYTES = 4_096
/** A token that changes its picture has it shown within the hour. */
const FOUND_MS = 3_600_000
/** A server that had none may have been down. */
const MISSING_MS = 60_000

export class LogoCache {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #byUri: BoundedMap<string, Image | null>

  constructor(clock: Pick<Clock, 'monotonic'>, bytesMax: number = BYTES_MAX) {
    this.#clock = clock
    this.#byUri = new BoundedMap({ max: bytesMax, weigh: bytesOf, now: () => clock.monotonic() })
  }

  get byteLength(): number {
    return this.#byUri.weight
  }

  /**
   * The kept picture of a URI, else the one that `fetch` finds; null if there is none. A `fetch` that
   * throws leaves nothing.
   */
  async read(uri: string, fetch: () => Promise<Image | null>): Promise<Image | null> {
    const kept = this.#byUri.get(uri)
    if (kept !== undefined) return kept
    const image = await fetch()
    this.#byUri.set(uri, image, this.#clock.monotonic() + (image ? FOUND_MS : MISSING_MS))
    return image
  }
}

const bytesOf = (image: Image | null): number => ENTRY_BYTES + (image?.body.length ?? 0)

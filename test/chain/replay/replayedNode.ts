/** A node that follows a recorded chain: where its head is, and what it is told to do. */
import { Faults } from './faults.ts'
import type { ReplayFlags } from './flags.ts'
import type { Recording } from './recording.ts'

export interface ReplayStats {
  /** HTTP requests, without those for the replay itself. */
  requests: number
  /** How often each method was called. */
  readonly calls: Record<string, number>
  /** Length of the bodies sent. */
  bytes: number
}

export class ReplayedNode {
  readonly recording: Recording
  readonly flags: ReplayFlags
  readonly faults: Faults
  readonly stats: ReplayStats = { requests: 0, calls: {}, bytes: 0 }
  /** The height at which the recording ends. */
  readonly last: number
  #head: number
  /** Depth by height. */
  readonly #reorgs: ReadonlyMap<number, number>

  constructor(recording: Recording, flags: ReplayFlags) {
    this.recording = recording
    this.flags = flags
    this.faults = new Faults(flags)
    this.last = recording.lastHeight(flags.repeat)
    this.#head = flags.head ? Math.min(flags.head, this.last) : this.last
    this.#reorgs = reorgsIn(flags['reorg-at'])
  }

  get head(): number {
    return this.#head
  }

  get finalized(): number {
    return Math.max(this.recording.first, this.#head - this.flags.finality)
  }

  /** Whether a height is so near the head that a node may be in doubt of it. */
  isNear(height: number): boolean {
    return height > this.#head - this.flags.near
  }

  /** Adds blocks, as far as the recording goes; returns the new head. */
  advance(blocks = 1): number {
    for (let left = blocks; left > 0 && this.#head < this.last; left--) {
      this.#head++
      if (this.flags['live-time']) this.recording.stamps.set(this.#head, Math.floor(Date.now() / 1000))
      const depth = this.#reorgs.get(this.#head)
      if (depth !== undefined) this.reorg(depth)
    }
    return this.#head
  }

  /**
   * Replaces the newest blocks; returns the new head's hash. @throws RangeError below the setup.
   */
  reorg(depth = 1): string {
    this.recording.reorg(depth, this.#head)
    this.faults.count('reorg')
    return this.recording.hashAt(this.#head)
  }
}

/** Reads `120:3,150:1`. */
function reorgsIn(text: string): ReadonlyMap<number, number> {
  const items = text === '' ? [] : text.split(',').map((item) => item.split(':').map(Number))
  return new Map(items.map(([height = Number.NaN, depth = Number.NaN]) => [height, depth]))
}

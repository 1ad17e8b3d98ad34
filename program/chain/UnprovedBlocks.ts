/**
 * Blocks that were taken on the word of one endpoint because nothing proves them whole, for as long
 * as an owner should hear of them.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { UnprovablePart } from '#transform/batch.ts'

/** Told of for this long after the last time, whatever came after. */
const TOLD_MS = 3_600_000
/** Told of for at least this long: a chain that is caught up with passes any number of blocks. */
const TOLD_MS_MIN = 600_000
/**
 * Blocks above them that were proved, or told alike by two endpoints: what stood in the way has
 * passed. Where every hundredth block has it the alarm stays, and does not come and go.
 */
const SURE_BLOCKS = 1_000

export interface UnprovedRange {
  readonly range: BlockRange
  /** The parts in them that nothing proves. */
  readonly parts: readonly UnprovablePart[]
}

/** In one line. */
export function describeUnproved({ range: { from, to }, parts }: UnprovedRange): string {
  const names = parts.map((part) => partNames[part]).join(', ')
  return `blocks ${from} to ${to} were taken on the word of one endpoint: what was told does not prove their ${names}`
}

const partNames: Readonly<Record<UnprovablePart, string>> = {
  header: 'block hash (a header field is unknown, or left out)',
  transactionsRoot: 'transactions root (a transaction type or signature is unknown)',
  receiptsRoot: 'receipts root',
  bloom: 'logs bloom',
}

export class UnprovedBlocks {
  readonly #clock: Clock
  #last: (UnprovedRange & { readonly atMs: number }) | null = null
  /** Highest block that was sure since; -1 without. */
  #sureTo = -1

  constructor(clock: Clock) {
    this.#clock = clock
  }

  takenAlone(range: BlockRange, parts: readonly UnprovablePart[]): void {
    this.#last = { range, parts, atMs: this.#clock.monotonic() }
    this.#sureTo = -1
  }

  takenSurely({ to }: BlockRange): void {
    this.#sureTo = Math.max(this.#sureTo, to)
  }

  /** The newest ones, while they are told of. */
  get told(): UnprovedRange | null {
    if (!this.#last) return null
    const { range, parts, atMs } = this.#last
    const isPast = this.#sureTo >= range.to + SURE_BLOCKS
    const endsMs = atMs + (isPast ? TOLD_MS_MIN : TOLD_MS)
    return this.#clock.monotonic() < endsMs ? { range, parts } : null
  }
}

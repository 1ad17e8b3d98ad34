/** Runs a query for every new block and shows what it has told so far. */
import { LiveRows } from '../../model/LiveRows.ts'
import { type LiveEvent, type LiveMode, readLive } from '../../model/liveStream.ts'
import type { QueryRequest } from '../../model/queryAnswer.ts'
import { origin } from '../api.ts'
import { browserClock } from '../browserClock.ts'
import type { ResultView } from './ResultView.ts'

/** The number of rows that the grid is made for; older rows make room. */
const ROWS_MAX = 10_000

/**
 * Ends only with the signal. @throws RequestFailure for a query that cannot be live, or the
 * signal's reason
 */
export async function runLive(
  request: QueryRequest,
  mode: LiveMode,
  result: ResultView,
  signal: AbortSignal,
): Promise<never> {
  const shown = new LiveResult(result, signal)
  for await (const event of readLive(origin, request, mode, browserClock, signal)) shown.apply(event)
  throw signal.reason
}

class LiveResult {
  readonly #rows = new LiveRows(ROWS_MAX)
  readonly #result: ResultView
  readonly #signal: AbortSignal
  #note = 'connecting'
  #rowsChanged = false
  #isPainting = false

  constructor(result: ResultView, signal: AbortSignal) {
    this.#result = result
    this.#signal = signal
  }

  apply(event: LiveEvent): void {
    this.#rowsChanged = this.#rows.apply(event) || this.#rowsChanged
    this.#note = noteOf(event, this.#rows) ?? this.#note
    // Blocks can come faster than a screen shows them.
    if (!this.#isPainting) requestAnimationFrame(() => this.#paint())
    this.#isPainting = true
  }

  #paint(): void {
    this.#isPainting = false
    if (this.#signal.aborted) return
    const answer = this.#rowsChanged ? this.#rows.answer() : null
    this.#rowsChanged = false
    if (answer) this.#result.show(answer, `Live: ${this.#note}`, { growing: true })
    else this.#result.tell('rows', `Live: ${this.#note}`)
  }
}

function noteOf(event: LiveEvent, { heard, retracted }: LiveRows): string | null {
  const blocks = `${count(heard)} ${heard === 1 ? 'block' : 'blocks'}`
  const orphaned = retracted > 0 ? `, ${count(retracted)} taken back` : ''
  switch (event.kind) {
    case 'progress':
      return `waiting for the block after ${count(event.block)}`
    case 'result':
      if (event.isWhole)
        return `the whole result after each change, ${count(heard)} ${heard === 1 ? 'time' : 'times'} so far`
      return `block ${count(event.blocks.at(-1)?.num ?? 0)}, ${blocks}${orphaned}`
    case 'retract':
      return `${blocks}${orphaned}`
    case 'lagged':
      return `blocks ${count(event.from)} to ${count(event.to)} were left out`
    case 'failed':
      return event.message
    case 'waiting':
      return `${event.reason} Trying again in ${Math.ceil(event.waitMs / 1_000)} s.`
    case 'finalized':
      return null
  }
}

const count = (value: number): string => value.toLocaleString('en-US')

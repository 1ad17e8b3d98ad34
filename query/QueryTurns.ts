/**
 * Turns of one engine's queries. Exports have slots of their own; callers that nobody knows have half
 * of either, all of them together, so that those who are known find the other half.
 */
import type { Clock } from '#runtime/runtime.ts'
import { type SlotLimits, Slots } from '#runtime/Slots.ts'
import { type ExportDebts, Exports } from './exports/Exports.ts'
import { isExport } from './limits.ts'
import type { QueryRequest, ResultEvent } from './result.ts'
import { exportSlots, sqlSlotErrors } from './slotLimits.ts'

type Turn = Pick<QueryRequest, 'limit' | 'signal' | 'party' | 'behind'>
type Read = (signal: AbortSignal) => AsyncIterable<ResultEvent>

export class QueryTurns {
  readonly #slots: Slots
  readonly #exports: Exports
  readonly #behind: Slots
  readonly #exportsBehind: Slots

  constructor(slots: SlotLimits, clock: Clock, exportDebts: ExportDebts) {
    this.#slots = new Slots(slots, clock, sqlSlotErrors)
    this.#exports = new Exports(clock, exportDebts)
    this.#behind = new Slots(halfOf(slots), clock, sqlSlotErrors)
    this.#exportsBehind = new Slots(halfOf(exportSlots), clock, sqlSlotErrors)
  }

  /** As `Slots.hold`, and `Exports.hold` for an export. @throws UserQueryError */
  hold({ limit, signal, party, behind }: Turn, read: Read): AsyncIterable<ResultEvent> {
    const [slots, half] = isExport(limit) ? [this.#exports, this.#exportsBehind] : [this.#slots, this.#behind]
    if (!behind) return slots.hold(read, signal, party)
    return half.hold((held) => slots.hold(read, held, party), signal, party)
  }

  /** As `Slots.assertRoom`, and `Exports.assertRoom` for an export. @throws UserQueryError */
  async assertRoom({ limit, party, behind }: Turn): Promise<void> {
    const [slots, half] = isExport(limit) ? [this.#exports, this.#exportsBehind] : [this.#slots, this.#behind]
    if (behind) half.assertRoom(party)
    await slots.assertRoom(party)
  }

  /** As `Slots.run`. @throws UserQueryError */
  run<Result>({ signal, party, behind }: Turn, work: () => Promise<Result>): Promise<Result> {
    const inTurn = () => this.#slots.run(work, signal, party)
    return behind ? this.#behind.run(inTurn, signal, party) : inTurn()
  }
}

const halfOf = ({ running, ...limits }: SlotLimits): SlotLimits => ({
  ...limits,
  running: Math.ceil(running / 2),
})

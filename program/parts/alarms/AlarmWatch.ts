/**
 * Turns conditions into alarms: one is told when it begins to hold and once more when it is over.
 * What comes and goes within seconds is in /status at once, but nobody is called for it.
 */
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import type { Alarm, AlarmKind } from '../part.ts'

/** /status says `degraded` within five seconds (ING-09); so often are the conditions looked at. */
const POLL_MS = 1_000
/** A condition that comes back sooner was never over: a flapping store is one alarm. */
const OVER_MS = 60_000

export interface AlarmNote extends Alarm {
  readonly type: 'alarm.raised' | 'alarm.cleared'
  /** When the condition began to hold; milliseconds since the Unix epoch. */
  readonly sinceMs: number
}

export interface AlarmWatchOptions {
  /** The conditions that hold now. */
  readonly read: () => readonly Alarm[]
  /** How long each holds before its owner is called; one that is not named is told at once. */
  readonly kinds: readonly AlarmKind[]
  /** Tells the owner; must not throw and not wait. */
  readonly tell: (note: AlarmNote) => void
  readonly clock: Clock
  readonly log: Logger
}

interface Holding {
  alarm: Alarm
  readonly sinceMs: number
  readonly beganMs: number
  seenMs: number
  told: boolean
}

export class AlarmWatch {
  readonly #options: AlarmWatchOptions
  readonly #holding = new Map<string, Holding>()
  readonly #passesMs: ReadonlyMap<string, number>

  constructor(options: AlarmWatchOptions) {
    this.#options = options
    this.#passesMs = new Map(options.kinds.map(({ code, passesMs }) => [code, passesMs]))
  }

  /** The conditions that hold now, and since when. */
  active(): (Alarm & { readonly sinceMs: number })[] {
    const { read, clock } = this.#options
    return read().map((alarm) => ({
      ...alarm,
      sinceMs: this.#holding.get(keyOf(alarm))?.sinceMs ?? clock.now(),
    }))
  }

  /** Watches until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await repeat({ clock: this.#options.clock, signal }, () => {
      this.step()
      return POLL_MS
    })
  }

  /** Looks once. */
  step(): void {
    const { read, clock } = this.#options
    const nowMs = clock.monotonic()
    for (const alarm of read()) {
      const held = this.#holding.get(keyOf(alarm))
      if (held) Object.assign(held, { alarm, seenMs: nowMs })
      else
        this.#holding.set(keyOf(alarm), {
          alarm,
          sinceMs: clock.now(),
          beganMs: nowMs,
          seenMs: nowMs,
          told: false,
        })
    }
    for (const [key, held] of this.#holding) this.#settle(key, held, nowMs)
  }

  #settle(key: string, held: Holding, nowMs: number): void {
    const holds = held.seenMs === nowMs
    const waitMs = this.#passesMs.get(held.alarm.code) ?? 0
    if (holds && !held.told && nowMs - held.beganMs >= waitMs) {
      held.told = true
      this.#tell('alarm.raised', held)
    }
    if (holds || (held.told && nowMs - held.seenMs < OVER_MS)) return
    this.#holding.delete(key)
    if (held.told) this.#tell('alarm.cleared', held)
  }

  #tell(type: AlarmNote['type'], { alarm, sinceMs }: Holding): void {
    const { tell, log } = this.#options
    const { chainId, code, problem } = alarm
    const raised = type === 'alarm.raised'
    metrics.alarm.set({ chain: `${chainId}`, code }, raised ? 1 : 0)
    if (raised) log.error({ chainId, code, problem }, 'an alarm was raised')
    else log.info({ chainId, code }, 'an alarm is over')
    tell({ ...alarm, type, sinceMs })
  }
}

const keyOf = ({ chainId, code }: Alarm): string => `${chainId} ${code}`

/**
 * Rules of a chain that one endpoint of several told alone are asked again as soon as a second one answers.
 * Where that one proves more, the stricter rules win.
 */
import { messageOf } from '#errors.ts'
import type { LoosePart } from '#ingest/read/looseParts.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import {
  type ChainRules,
  describeAlone,
  describeRules,
  isOneAlone,
  joined,
  type Lesson,
  lessonOf,
  type Teachers,
} from './chainRules.ts'

export interface ProvisionalRulesOptions {
  readonly source: Teachers & Pick<RpcSource, 'answering'>
  readonly chainId: number
  /** The rules in force. */
  readonly rules: () => ChainRules
  /** Puts others into the store and in force. @param dropped what was contradicted */
  readonly keep: (rules: ChainRules, dropped: readonly LoosePart[]) => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

/** How often it is looked who answers, and the first pause after rules were learned in vain. */
const LOOK_MS = 5_000
/** Each further pause is twice as long as the one before, up to this. */
const PAUSE_MS_MAX = 600_000

export class ProvisionalRules {
  readonly #options: ProvisionalRulesOptions

  constructor(options: ProvisionalRulesOptions) {
    this.#options = options
  }

  /** Until aborted, or until nothing is one endpoint's word. */
  async run(signal: AbortSignal): Promise<void> {
    const { rules, clock, chainId, log } = this.#options
    // Apart: a second endpoint that comes back is not made to wait for what one alone was asked in vain.
    const paces = { one: { pauseMs: LOOK_MS, dueMs: 0 }, several: { pauseMs: LOOK_MS, dueMs: 0 } }
    while (rules().alone.length > 0) {
      await clock.sleep(LOOK_MS, signal).catch(() => {})
      if (signal.aborted) return
      const pace = isOneAlone(this.#options.source) ? paces.one : paces.several
      if (!this.#mayLearn() || clock.monotonic() < pace.dueMs) continue
      await this.look().catch((error: unknown) => {
        log.warn({ chainId, error: messageOf(error) }, 'the rules of the chain could not be learned again')
      })
      pace.dueMs = clock.monotonic() + pace.pauseMs
      pace.pauseMs = Math.min(2 * pace.pauseMs, PAUSE_MS_MAX)
    }
  }

  /** Learns once more. @throws what the endpoints or the store throw */
  async look(): Promise<void> {
    const { source, chainId, rules, keep, clock, log } = this.#options
    const told = await lessonOf(source, chainId, clock)
    const isOne = told.alone.includes('header')
    if (!isOne && told.blocksHeard === 0) return
    const held = rules()
    const next = isOne ? widened(held, told) : settled(held, told)
    if (isSame(held, next)) return
    const dropped = droppedOf(held, next)
    await keep(next, dropped)
    const lonely = describeAlone(next.alone)
    const less = describeRules(next)
    const found = [less, lonely].filter((line) => line !== null).join('; ')
    if (dropped.length > 0)
      log.warn(
        { chainId, dropped, unproved: next.loose },
        'a second endpoint contradicts what one alone told of the chain: blocks stored until now are marked where nothing proved them, and the audit reads them again',
      )
    else log.warn({ chainId, found }, 'what blocks of the chain prove was learned again')
  }

  /** One endpoint alone may teach only where nothing was learned at all and the others are gone. */
  #mayLearn(): boolean {
    const { source, rules } = this.#options
    if (!isOneAlone(source)) return true
    return rules().alone.includes('header') && (source.answering ?? 1) < 2
  }
}

/** Two were asked: what both show holds, what one shows alone still waits, the rest is gone. */
function settled(held: ChainRules, told: Lesson): ChainRules {
  const sure = held.loose.filter((part) => !held.alone.includes(part))
  const shown = told.loose.filter((part) => !told.alone.includes(part))
  const open = told.alone.filter((part) => held.loose.includes(part) && !sure.includes(part))
  return {
    headerRule: told.headerRule === 'unknown' ? held.headerRule : told.headerRule,
    loose: joined(sure, new Set([...shown, ...open])),
    alone: open,
  }
}

/** One was asked, since no other is there: without its word a chain of other rules would stand still. */
function widened(held: ChainRules, told: Lesson): ChainRules {
  const added = told.loose.filter((part) => !held.loose.includes(part))
  return {
    headerRule: held.headerRule === 'unknown' ? told.headerRule : held.headerRule,
    loose: joined(held.loose, new Set(added)),
    alone: joined(held.alone, new Set(added)),
  }
}

function droppedOf(held: ChainRules, next: ChainRules): readonly LoosePart[] {
  const parts = held.loose.filter((part) => !next.loose.includes(part))
  return joined(parts, new Set(held.headerRule === next.headerRule ? [] : ['header']))
}

const isSame = (one: ChainRules, other: ChainRules): boolean =>
  one.headerRule === other.headerRule &&
  one.loose.join() === other.loose.join() &&
  one.alone.join() === other.alone.join()

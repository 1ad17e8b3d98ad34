/**
 * Finds out what became of spends that nobody waits for, and lets money leave again after the
 * database was restored, once nothing is open.
 */
import { listOpenSpends, removeSpent, type Spend, voidSpend } from '#rows/jobs/spends.ts'
import { adoptHistory } from '#rows/jobs/wallet.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type LookingFor, lookForSpend } from './lookForSpend.ts'

export interface SpendReconcilerOptions extends LookingFor {
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_MS = 5_000
/** A call that was just made is looked after by whoever made it. */
const IDLE_MS = 10_000
/** A reservation whose process signs still is younger. */
const UNSIGNED_MS = 300_000
const LOOKED_MAX = 100
const AT_ONCE = 8
/** No credential can be spent for longer, so that after it the chain tells all there is. */
const VALID_MS_MAX = 660_000
const SWEEP_MS = 3_600_000

export class SpendReconciler {
  readonly #options: SpendReconcilerOptions
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(options: SpendReconcilerOptions) {
    this.#options = options
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'spends could not be looked for' }
    await repeat({ clock, signal, failed }, async () => {
      await this.reconcile()
      return LOOK_MS
    })
  }

  /** One look at each spend whose outcome is unknown. @param idleMs since it was sent */
  async reconcile(idleMs = IDLE_MS): Promise<void> {
    const { app, clock } = this.#options
    const open = await listOpenSpends(app, { idleMs, unsignedMs: UNSIGNED_MS, limit: LOOKED_MAX })
    await mapAtMost(AT_ONCE, open, (spend) => this.#look(spend))
    await adoptHistory(app, VALID_MS_MAX)
    if (clock.monotonic() - this.#sweptMs < SWEEP_MS) return
    await removeSpent(app)
    this.#sweptMs = clock.monotonic()
  }

  async #look(spend: Spend): Promise<void> {
    const { app, log } = this.#options
    const { id } = spend
    if (spend.state === 'reserved') {
      await voidSpend(app, id, { from: 'reserved' })
      return
    }
    const { kind } = await lookForSpend(this.#options, spend)
    if (kind !== 'unknown') log.info({ spend: id, outcome: kind }, 'a spend was looked for on the chain')
  }
}

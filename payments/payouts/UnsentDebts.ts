/** Tells refunds and rewards on chains that nothing here sends on. They wait until a setting names one. */
import type { AppDatabase } from '#rows/database.ts'
import { markUnsent, type UnsentOnChain } from '#rows/payments/unsent.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

export interface UnsentDebtsOptions {
  readonly app: AppDatabase
  /** Ids of the chains that debts are sent on. */
  readonly sendsOn: readonly number[]
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_MS = 60_000

export class UnsentDebts {
  readonly #options: UnsentDebtsOptions
  #unsent: readonly UnsentOnChain[] = []

  constructor(options: UnsentDebtsOptions) {
    this.#options = options
  }

  /** A sentence for each chain. */
  get notes(): readonly string[] {
    return this.#unsent.map(
      ({ chainId, count }) =>
        `${count} refunds and rewards are owed on chain ${chainId}, and nothing here sends on it: \`millrace payments refunds\``,
    )
  }

  /** How many are owed for more than ten minutes. */
  get late(): number {
    return this.#unsent.reduce((sum, { late }) => sum + late, 0)
  }

  /** At once, then again and again until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'debts that nothing sends could not be looked for' }
    await repeat({ clock, signal, failed }, async () => {
      await this.look()
      return LOOK_MS
    })
  }

  async look(): Promise<void> {
    const { app, sendsOn, log } = this.#options
    const known = this.#unsent
    this.#unsent = await markUnsent(app, sendsOn)
    for (const { chainId, count } of this.#unsent)
      if (!known.some((before) => before.chainId === chainId))
        log.warn(
          { chain: chainId, count },
          'refunds or rewards are owed on a chain that nothing here sends on',
        )
  }
}

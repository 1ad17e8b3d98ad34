/**
 * Suspends endpoints whose calls were paid for and not delivered, and tells the operator which ones
 * are. Any number of processes may do so beside each other.
 */
import { isoSeconds } from '#http/schema.ts'
import { findServices } from '#rows/catalog/catalogReads.ts'
import {
  readFailingServices,
  readNewestCalls,
  readSuspended,
  type SuspendedEndpoint,
  suspend,
} from '#rows/catalog/suspensions.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { serviceOf } from '../catalog/description/describe.ts'
import { askedEndpoints } from '../catalog/description/quality.ts'
import { sellersFaults } from '../job/outcome.ts'
import { SUSPENSION_MS, SUSPENSION_MS_MIN } from './schedule.ts'
import { CALLS, reasonToSuspend } from './suspension.ts'

export interface SuspensionWatchOptions {
  /** Writes. */
  readonly app: AppDatabase
  readonly clock: Clock
  readonly log: Logger
}

export interface SuspensionProblem {
  /** Chain that the last of the calls was paid on. */
  readonly chainId: number
  readonly code: 'endpoint_suspended'
  readonly problem: string
}

/** Some calls more may be paid for meanwhile. */
const LOOK_MS = 15_000
/** Services that a look is about: those whose calls failed last. */
const SERVICES_MAX = 100
/** Endpoints that the alarm knows, and those of a chain that it names. */
const SUSPENDED_MAX = 1_000
const NAMED_MAX = 3

export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions
  #suspended: readonly SuspendedEndpoint[] = []

  constructor(options: SuspensionWatchOptions) {
    this.#options = options
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'endpoints that do not deliver could not be looked for' }
    await repeat({ clock, signal, failed }, async () => {
      await this.look()
      return LOOK_MS
    })
  }

  /** Once, at every service whose calls failed. */
  async look(): Promise<void> {
    const { app } = this.#options
    const bounds = { least: CALLS, limit: SERVICES_MAX }
    // One at a time: a service may have 1 MiB.
    for (const serviceId of await readFailingServices(app, sellersFaults, bounds))
      await this.#judge(serviceId)
    this.#suspended = await readSuspended(app, { serviceIds: null, limit: SUSPENDED_MAX })
  }

  /** The problems of the last look: one for each chain. */
  problems(): readonly SuspensionProblem[] {
    return [...Map.groupBy(this.#suspended, ({ chainId }) => chainId)].map(([chainId, suspended]) => {
      const more = suspended.length > NAMED_MAX ? ` (and ${suspended.length - NAMED_MAX} more)` : ''
      const problem = `${suspended.slice(0, NAMED_MAX).map(sentenceOf).join('; ')}${more}`
      return { chainId, code: 'endpoint_suspended', problem }
    })
  }

  async #judge(serviceId: string): Promise<void> {
    const { app, log } = this.#options
    const [stored] = await findServices(app, [serviceId])
    if (!stored) return
    const asked = askedEndpoints(serviceOf(stored).endpoints)
    for (const calls of await readNewestCalls(app, serviceId, asked, { ...sellersFaults, count: CALLS })) {
      const reason = reasonToSuspend(calls)
      if (reason === null) continue
      const { method, path, chainId, lastEndedAt } = calls
      const suspension = { reason, chainId, lastEndedAt, forMs: SUSPENSION_MS, lookMs: SUSPENSION_MS_MIN }
      if (await suspend(app, { serviceId, method, path }, suspension))
        log.warn({ service: serviceId, method, path, reason }, 'an endpoint is suspended')
    }
  }
}

const sentenceOf = ({ serviceId, method, path, until, reason }: SuspendedEndpoint): string =>
  `${serviceId} ${method} ${path} is suspended until ${isoSeconds(until.getTime() / 1_000)}: ${reason}`

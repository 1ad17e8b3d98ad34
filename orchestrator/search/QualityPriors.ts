/**
 * The bonus that the measured quality of endpoints adds to their place in searches: read in the background
 * and held, so that a search asks nobody for it.
 */
import { readCalledServices } from '#rows/catalog/callQuality.ts'
import { findServices } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { serviceOf } from '../catalog/description/describe.ts'
import { QUALITY_DAYS, qualityOf } from '../catalog/description/quality.ts'
import { priorOf } from './qualityPrior.ts'

/** Quality is that of 30 days: ten minutes change little. */
const REFRESH_MS = 10 * 60_000
const RETRY_MS = 60_000
/** Services that are held: those with the most calls. */
const SERVICES_MAX = 500
/** Endpoints that are held, of some 200 bytes each. */
const HELD_MAX = 20_000

export class QualityPriors {
  #held: ReadonlyMap<string, number> = new Map()

  /** 0 for an endpoint that nothing is known of. */
  of(serviceId: string, { method, path }: { readonly method: string; readonly path: string }): number {
    return this.#held.get(`${serviceId} ${method} ${path}`) ?? 0
  }

  /** One service at a time: what searches meanwhile is not held up. */
  async read(app: AppDatabase): Promise<void> {
    const held = new Map<string, number>()
    for (const serviceId of await readCalledServices(app, QUALITY_DAYS, SERVICES_MAX)) {
      const [stored] = await findServices(app, [serviceId])
      if (!stored) continue
      for (const quality of await qualityOf(app, serviceId, serviceOf(stored).endpoints))
        if (held.size < HELD_MAX) held.set(`${serviceId} ${quality.method} ${quality.path}`, priorOf(quality))
    }
    this.#held = held
  }

  /** Reads again and again, until the signal. */
  async follow(app: AppDatabase, clock: Clock, log: Logger, signal: AbortSignal): Promise<void> {
    const failed = { log, ms: RETRY_MS, message: 'the quality of services could not be read' }
    await repeat({ clock, signal, failed }, async () => {
      await this.read(app)
      return REFRESH_MS
    })
  }
}

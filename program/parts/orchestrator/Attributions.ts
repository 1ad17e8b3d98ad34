/** Names of payments' receivers: the operator's list, then the realms of the catalog. */
import { readRealmNames } from '#orchestrator/catalog/realmNames.ts'
import { type AttributedService, type AttributionNames, attributionNames } from '#present/memo.ts'
import type { AppDatabase } from '#rows/database.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'

/** An import beside the running program shows in transfers this long after, at most. */
const REFRESH_MS = 30_000

export class Attributions {
  readonly names: AttributionNames
  #ofCatalog: ReadonlyMap<string, string> = new Map()

  constructor(declared: readonly AttributedService[]) {
    const own = attributionNames(declared)
    this.names = { get: (fingerprint) => own.get(fingerprint) ?? this.#ofCatalog.get(fingerprint) }
  }

  /** Follows the catalog until the signal. */
  async follow(app: AppDatabase, clock: Clock, log: Logger, signal: AbortSignal): Promise<void> {
    const failed = { log, ms: REFRESH_MS, message: 'the realms of the catalog could not be read' }
    await repeat({ clock, signal, failed }, async () => {
      this.#ofCatalog = attributionNames(await readRealmNames(app))
      return REFRESH_MS
    })
  }
}

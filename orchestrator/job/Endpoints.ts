/** Endpoints that nodes call, as the catalog has them; held for a while, since polls ask again and again. */
import type { AppDatabase } from '#rows/database.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { EndpointFinder, type ResolvedEndpoint } from '../plan/EndpointFinder.ts'
import type { PlanNode } from '../plan/plan.ts'
import { readServices } from '../plan/readServices.ts'

/** A service that the operator takes out of the catalog is called for this long still. */
const HELD_MS = 30_000
/** Services with one endpoint each, of some kilobytes. */
const HELD_MAX = 500

export class Endpoints {
  readonly #app: AppDatabase
  readonly #clock: Clock
  readonly #held: BoundedMap<string, ResolvedEndpoint>

  constructor(app: AppDatabase, clock: Clock) {
    this.#app = app
    this.#clock = clock
    this.#held = new BoundedMap({ max: HELD_MAX, now: () => clock.now() })
  }

  /** Null where the catalog has none. */
  async of(node: PlanNode): Promise<ResolvedEndpoint | null> {
    const key = `${node.method} ${node.serviceId} ${node.path}`
    const held = this.#held.get(key)
    if (held) return held
    const services = await readServices(this.#app, { nodes: [node] })
    const found = new EndpointFinder(services).find(node, [])
    if ('message' in found) return null
    this.#held.set(key, found, this.#clock.now() + HELD_MS)
    return found
  }
}

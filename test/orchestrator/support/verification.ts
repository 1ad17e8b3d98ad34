/** A catalog of one seller on loopback, and verifiers that look at it. */
import { sql } from 'kysely'
import { Egress } from '#egress/Egress.ts'
import { describeService } from '#orchestrator/catalog/description/describe.ts'
import { Verifier } from '#orchestrator/verify/Verifier.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openCatalog } from './catalog.ts'
import { openSeller } from './seller.ts'

export async function openVerification(atEnd: (end: () => Promise<void>) => void) {
  const catalog = await openCatalog(atEnd)
  const seller = await openSeller(atEnd)
  const { clock, random } = systemRuntime()
  return {
    ...{ catalog, seller },
    /** A verifier of the seller at that origin, which may be on loopback. */
    verifierAt: (origin: string) =>
      new Verifier({
        app: catalog.app,
        egress: new Egress({ isLocalOrigin: (each) => each === origin }),
        clock,
        random,
      }),
    /** Imports the seller's only service, with these endpoints. */
    list: (id: string, endpoints: readonly object[], more: object = {}) =>
      catalog.importAs('own', [
        { id, name: `Seller of ${id}`, serviceUrl: `${seller.origin}/${id}`, endpoints, ...more },
      ]),
    healthOf: async (serviceId: string, method?: string, path?: string) =>
      (await describeService(catalog.reads, { serviceId, method, path })).health,
    becomeDue: () =>
      sql`UPDATE app.catalog_health SET next_at = now() WHERE next_at IS NOT NULL`.execute(catalog.app),
  }
}

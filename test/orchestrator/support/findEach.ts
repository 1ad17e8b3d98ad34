/** Whether what a catalog holds is found by its own words, and described by what was found. */
import { describeService } from '#orchestrator/catalog/description/describe.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import type { TestCatalog } from './catalog.ts'

/** The limit of a search. */
const QUERY_CHARACTERS_MAX = 500

export interface Listed {
  readonly serviceId: string
  readonly method: string
  readonly path: string
  /** Its service's name with its path, and its description where it has one. */
  readonly queries: readonly string[]
}

/** Every endpoint of services in our own format or the mpp directory's. */
export const listedIn = (services: readonly unknown[]): readonly Listed[] =>
  services.map(membersOf).flatMap(({ id, name, endpoints }) =>
    itemsOf(endpoints)
      .map(membersOf)
      .map(({ method, path, description, desc }) => ({
        ...{ serviceId: String(id), method: String(method), path: String(path) },
        queries: [`${name ?? id} ${path}`, String(description ?? desc ?? '')].filter((text) => text !== ''),
      })),
  )

/**
 * Endpoints that are not among the first 20 of their own queries: those of other services may be
 * described in the same words. The first of each answer is described, which must not fail.
 */
export async function missedAmong(catalog: TestCatalog, listed: readonly Listed[]): Promise<string[]> {
  const missed: string[] = []
  for (const { serviceId, method, path, queries } of listed)
    for (const query of queries) {
      const { endpoints } = await catalog.search(query.slice(0, QUERY_CHARACTERS_MAX), { limit: 20 })
      const isFound = endpoints.some(
        (each) => each.serviceId === serviceId && each.method === method && each.path === path,
      )
      if (!isFound) missed.push(`${serviceId} ${method} ${path}: ${query}`)
      const [first] = endpoints
      if (first) await describeService(catalog.app, first)
    }
  return missed
}

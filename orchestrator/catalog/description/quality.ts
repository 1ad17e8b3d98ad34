/** How endpoints were when jobs called them: from this program's own runs, never from what sellers say. */
import * as s from '#http/schema.ts'
import { type AskedEndpoint, type CallQuality, readQuality } from '#rows/catalog/callQuality.ts'
import type { AppDatabase } from '#rows/database.ts'
import { parametersOf, parseTemplate } from '../pathTemplate.ts'
import { methodSchema, type ServiceEndpoint } from '../service.ts'

/** Days that are looked back. */
export const QUALITY_DAYS = 30

export const qualitySchema = s.array(
  s.named('EndpointQuality', {
    method: methodSchema,
    path: s.text(),
    calls: s.integer({ minimum: 1, description: 'Calls of jobs that have ended.' }),
    paid: s.count,
    delivered: s.integer({ minimum: 0, description: 'Paid calls whose answer came.' }),
    medianMs: s.optional(s.integer({ minimum: 0, description: 'To the answer, polls included.' })),
    p95Ms: s.optional(s.integer({ minimum: 0 })),
    rating: s.optional(
      s.object(
        { score: s.number(), payers: s.integer({ minimum: 1 }) },
        {
          description:
            'From 1 to 5, a voice for each payer, by what was paid and how long ago; pulled to 3 while few have one. A seller that pays itself has none.',
        },
      ),
    ),
  }),
  {
    description: `What became of calls of jobs within ${QUALITY_DAYS} days; endpoints without any are left out.`,
  },
)

export type EndpointQuality = s.Static<typeof qualitySchema>[number]

export async function qualityOf(
  app: AppDatabase,
  serviceId: string,
  endpoints: readonly ServiceEndpoint[],
): Promise<readonly EndpointQuality[]> {
  const found = await readQuality(app, serviceId, askedEndpoints(endpoints), QUALITY_DAYS)
  return found.map((each) => presentQuality(each))
}

/** The most exact first: a path that fits several is the first one's. */
export const askedEndpoints = (endpoints: readonly ServiceEndpoint[]): readonly AskedEndpoint[] =>
  endpoints.map(askedOf).toSorted((one, other) => one.parameters - other.parameters)

function askedOf({ method, path }: ServiceEndpoint): AskedEndpoint & { readonly parameters: number } {
  const template = parseTemplate(path)
  const parts = template.parts.map((part) =>
    part.kind === 'static' ? part.text.replaceAll(/[^\w]/g, '\\$&') : part.kind === 'param' ? '[^/]+' : '.+',
  )
  return { method, path, pattern: `^/?${parts.join('/')}/?$`, parameters: parametersOf(template).length }
}

const presentQuality = ({
  method,
  path,
  medianMs,
  p95Ms,
  voices,
  rating,
  ...counts
}: CallQuality): EndpointQuality => ({
  // Written by this program's import.
  method: method as EndpointQuality['method'],
  path,
  ...counts,
  ...(medianMs !== null && { medianMs: Math.round(medianMs) }),
  ...(p95Ms !== null && { p95Ms: Math.round(p95Ms) }),
  ...(rating !== null && { rating: { score: Math.round(rating * 100) / 100, payers: voices } }),
})

/**
 * Our own format, in JSON or YAML: one service, several, or `{services: [...]}`, with the fields
 * that describe shows.
 */
import { itemsOf, membersOf, textOf } from '#primitives.ts'
import type { Importer, ServiceDraft } from './importer.ts'

export const ownFormat: Importer = {
  name: 'a list of services',
  accepts: (document) => listOf(document).some(({ service }) => 'serviceUrl' in membersOf(service)),
  read: (document) =>
    listOf(document).map(
      ({ place, service }, index): ServiceDraft => ({
        externalId: textOf(membersOf(service)['id']) ?? `#${index}`,
        place,
        service,
      }),
    ),
}

function listOf(document: unknown): readonly Pick<ServiceDraft, 'place' | 'service'>[] {
  if (Array.isArray(document)) return document.map((service, index) => ({ place: [index], service }))
  const { services } = membersOf(document)
  if (services === undefined) return [{ place: [], service: document }]
  return itemsOf(services).map((service, index) => ({ place: ['services', index], service }))
}

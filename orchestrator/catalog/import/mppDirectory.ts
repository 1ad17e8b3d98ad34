/**
 * The mpp.dev directory: a bare array of services, `desc` for an endpoint's description, prices in
 * the smallest unit of the service's own payment methods. Its services know the fields of ours.
 */
import { itemsOf, type Json, membersOf, textOf } from '#primitives.ts'
import type { Importer, ServiceDraft } from './importer.ts'

export const mppDirectory: Importer = {
  name: 'the mpp directory',
  accepts: (document) =>
    itemsOf(listOf(document)).some((service) => hasDescribedEndpoint(membersOf(service))),
  read: (document) =>
    itemsOf(listOf(document)).map((service, index): ServiceDraft => {
      const fields = membersOf(service)
      return {
        externalId: textOf(fields['id']) ?? `#${index}`,
        place: Array.isArray(document) ? [index] : ['services', index],
        service: serviceOf(fields),
      }
    }),
}

const listOf = (document: unknown): unknown =>
  Array.isArray(document) ? document : membersOf(document)['services']

const hasDescribedEndpoint = (service: Json): boolean =>
  itemsOf(service['endpoints']).some((endpoint) => 'desc' in membersOf(endpoint)) &&
  Array.isArray(service['payments'])

function serviceOf({ intent, payments, endpoints, ...own }: Json): Json {
  return {
    ...own,
    endpoints: itemsOf(endpoints).map((endpoint) =>
      endpointOf(membersOf(endpoint), intent, itemsOf(payments)),
    ),
  }
}

function endpointOf(
  { desc, amount, amountHint, dynamic, intent, unitType, ...own }: Json,
  serviceIntent: unknown,
  payments: readonly unknown[],
): Json {
  const isPaid = amount !== undefined || dynamic === true
  const offers = payments.map(membersOf).map(({ method, currency, decimals }) => ({
    protocol: 'mpp',
    intent: intent ?? serviceIntent ?? 'charge',
    method,
    currency,
    decimals,
    amount: dynamic === true ? null : amount,
    ...(dynamic === true && { dynamic }),
    amountHint,
    unitType,
  }))
  return { ...own, description: desc ?? '', paymentOffers: isPaid ? offers : [] }
}

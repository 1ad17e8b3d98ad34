/** Every endpoint that reads the service's money, for its operator alone. */
import type { Endpoint } from '#http/endpoint.ts'
import type { Clock } from '#runtime/runtime.ts'
import { listPaymentsEndpoint, listPayoutsEndpoint, listReviewsEndpoint } from './lists.ts'
import { readDaysEndpoint, readMoneyEndpoint } from './money.ts'
import type { MoneyServices } from './services.ts'

export const operatorEndpoints: readonly Endpoint<MoneyServices & { readonly clock: Clock }>[] = [
  readMoneyEndpoint,
  readDaysEndpoint,
  listPaymentsEndpoint,
  listPayoutsEndpoint,
  listReviewsEndpoint,
]

/** Registry of everything the traffic does. */
import type { Action } from './action.ts'
import { contractCalls } from './actions/contracts.ts'
import { trading } from './actions/exchange.ts'
import { failures } from './actions/failures.ts'
import { fees } from './actions/fees.ts'
import { issuance } from './actions/issuance.ts'
import { payments } from './actions/payments.ts'
import { policies } from './actions/policies.ts'

export const actions: readonly Action[] = [
  ...payments,
  ...issuance,
  ...trading,
  ...fees,
  ...policies,
  ...contractCalls,
  ...failures,
]

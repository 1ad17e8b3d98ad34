/** Registry of everything the traffic does. */
import type { Action } from '../action.ts'
import { contractCalls } from './contracts.ts'
import { trading } from './exchange.ts'
import { failures } from './failures.ts'
import { fees } from './fees.ts'
import { issuance } from './issuance.ts'
import { payments } from './payments.ts'
import { policies } from './policies.ts'

export const actions: readonly Action[] = [
  ...payments,
  ...issuance,
  ...trading,
  ...fees,
  ...policies,
  ...contractCalls,
  ...failures,
]

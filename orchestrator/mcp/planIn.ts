/** The plan among the arguments of a tool. */

import { membersOf } from '../catalog/members.ts'
import type { Plan } from '../plan/plan.ts'
import { readCompletePlan } from '../plan/readPlan.ts'
import { argumentsInvalid } from './tool.ts'

/** The plan's own reader names every bad node. @throws ApiError body_invalid, plan_invalid */
export function planIn(input: unknown): Plan {
  const { plan, nodes } = membersOf(input)
  if (plan === undefined && nodes !== undefined)
    throw argumentsInvalid([
      {
        path: ['arguments', 'plan'],
        message: 'is missing: put the nodes into it, as {"plan": {"nodes": [...]}}',
      },
    ])
  return readCompletePlan(plan)
}

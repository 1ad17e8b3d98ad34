/** The hash by which a plan is quoted, ordered and found again. */
import { canonicalHash, NotCanonicalError } from './canonicalJson.ts'
import { planInvalid } from './checkPlan.ts'
import type { Plan } from './plan.ts'

/** SHA-256 of the plan's canonical JSON, in hex. @throws ApiError plan_invalid */
export function planHash(plan: Plan): string {
  try {
    return canonicalHash(plan)
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error
    throw planInvalid([{ path: ['body', 'nodes'], message: error.message }])
  }
}

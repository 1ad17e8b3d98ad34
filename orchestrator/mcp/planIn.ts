/** A plan among the arguments of a tool. */
import { Compile } from 'typebox/compile'
import type { RequestProblem } from '#http/errors.ts'
import { withoutNulls } from '#http/request/absent.ts'
import { bodyInvalid } from '#http/request/json.ts'
import { problemsOf } from '#http/request/problems.ts'
import type * as s from '#http/schema.ts'
import { isRecord, membersOf } from '#primitives.ts'
import type { Plan } from '../plan/plan.ts'
import { readCompletePlan } from '../plan/readPlan.ts'

/**
 * Makes the reader of arguments that are a plan and what the schema says beside it. The plan's own
 * reader names every bad node. It @throws ApiError body_invalid, plan_invalid
 */
export function planReader<Beside extends s.TSchema>(
  schema: Beside,
): (given: unknown) => { readonly plan: Plan; readonly beside: s.Static<Beside> } {
  const check = Compile(schema)
  return (given) => {
    const { plan, ...others } = membersOf(given)
    if (plan === undefined && 'nodes' in others) throw bodyInvalid([planMissing])
    const beside = withoutNulls(schema, others)
    const isBeside = (value: unknown): value is s.Static<Beside> => check.Check(value)
    if (isRecord(plan) && isBeside(beside)) return { plan: readCompletePlan(plan), beside }
    throw bodyInvalid([...formProblems(plan), ...problemsOf(check.Errors(beside), beside, ['arguments'])])
  }
}

const path = ['arguments', 'plan']
const planMissing = { path, message: 'is missing: put the nodes into it, as {"plan": {"nodes": [...]}}' }

function formProblems(plan: unknown): readonly RequestProblem[] {
  if (isRecord(plan)) return []
  if (plan === undefined) return [{ path, message: 'is required' }]
  return [{ path, message: `must be an object with nodes${plan === null ? ', not null' : ''}` }]
}

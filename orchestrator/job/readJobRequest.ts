/** A job request from outside: a plan, a key that makes it once, and what it may cost at most. */
import { Compile } from 'typebox/compile'
import { withoutNulls } from '#http/request/absent.ts'
import { bodyInvalid } from '#http/request/json.ts'
import { problemsOf } from '#http/request/problems.ts'
import * as s from '#http/schema.ts'
import { isRecord } from '#primitives.ts'
import { ofMember } from '../plan/checkPlan.ts'
import { type Plan, planRequestSchema } from '../plan/plan.ts'
import { planHash } from '../plan/planHash.ts'
import { readPlan } from '../plan/readPlan.ts'
import type { RetriedJob } from './retriedJob.ts'

const KEY_CHARACTERS_MIN = 8
const KEY_CHARACTERS_MAX = 200

const spendLimit = s.text({
  ...s.pattern('^[0-9]{1,9}(\\.[0-9]{1,18})?$', 'an amount as a text, such as 0.25'),
  description: 'In the currency of quotes. A job that costs more is refused, and nothing is paid.',
  examples: ['0.25'],
})

export const idempotencyKeySchema = s.text({
  minLength: KEY_CHARACTERS_MIN,
  maxLength: KEY_CHARACTERS_MAX,
  ...s.pattern('^[\\x21-\\x7e]+$', 'of printable ASCII characters without spaces'),
  description:
    'One plan of one payer for good. Keep it when you repeat a request: another key is another job.',
})

export const spendLimits = { max_spend: s.optional(spendLimit), approved_total: s.optional(spendLimit) }

export const jobRequestSchema = s.named('JobRequest', {
  idempotencyKey: idempotencyKeySchema,
  plan: planRequestSchema,
  ...spendLimits,
})

/** The members beside the plan, which its own reader reads: a retry has no others. */
export const besidePlan = s.named('RetryRequest', { idempotencyKey: idempotencyKeySchema, ...spendLimits })
const check = Compile(besidePlan)

export interface JobRequest {
  readonly idempotencyKey: string
  readonly plan: Plan
  /** SHA-256 of the plan, in hex. */
  readonly planHash: string
  /** Decimal texts, each of which the price must not exceed. */
  readonly limits: readonly string[]
  /** The job that it goes on with. */
  readonly retried: RetriedJob | null
}

/** As REST takes it. @throws ApiError body_invalid, plan_invalid */
export function readJobRequest(body: unknown): JobRequest {
  if (!isRecord(body)) throw bodyInvalid([{ path: ['body'], message: 'must be an object' }])
  const { plan: given, ...others } = body
  const plan = asMember(() => readPlan(given))
  const beside = withoutNulls(besidePlan, others)
  if (!check.Check(beside)) throw bodyInvalid(problemsOf(check.Errors(beside), beside))
  return asMember(() => jobRequestOf(plan, beside))
}

function asMember<Read>(read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw ofMember(error)
  }
}

/** @throws ApiError plan_invalid */
export function jobRequestOf(
  plan: Plan,
  beside: s.Static<typeof besidePlan>,
  retried: RetriedJob | null = null,
): JobRequest {
  const { idempotencyKey, max_spend: maxSpend, approved_total: approved } = beside
  const limits = [maxSpend ?? [], approved ?? []].flat()
  return { idempotencyKey, plan, planHash: planHash(plan), limits, retried }
}

/** A plan that has no price now, and which of its nodes have none. */
import { ApiError, type RequestProblem } from '#http/errors.ts'
import type { PlanNode } from '../plan/plan.ts'

export const sentenceOf = (node: PlanNode | undefined, message: string): string =>
  node ? `${node.id}: ${node.serviceId} ${node.method} ${node.path} ${message}` : message

/** Names each node in its details. */
export const unavailable = (problems: readonly RequestProblem[]): ApiError =>
  new ApiError('quote_unavailable', `No price: ${summaryOf(problems)}.`, { details: problems })

export function summaryOf(problems: readonly RequestProblem[]): string {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see details)` : ''
  return `${first?.message}${more}`
}

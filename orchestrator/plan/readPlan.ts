/** A plan from outside: its form, with a problem for everything that is wrong, at every node. */
import { Compile } from 'typebox/compile'
import { ApiError, type RequestProblem } from '#http/errors.ts'
import { withoutNulls } from '#http/request/absent.ts'
import { assertDepth, assertWellFormed } from '#http/request/json.ts'
import { problemsOf } from '#http/request/problems.ts'
import { isRecord, shorten } from '#primitives.ts'
import { planInvalid } from './checkPlan.ts'
import { type JsonSurvey, LONG_NUMBERS_MAX, surveyOf, VALUES_MAX } from './jsonSurvey.ts'
import { type InexactNumber, inexactIn } from './lossless.ts'
import {
  completePlan,
  NODES_MAX,
  type Plan,
  type PlanNode,
  type PlanNodeRequest,
  planNodeRequestSchema,
  planNodeSchema,
  planRequestSchema,
} from './plan.ts'

const requestCheck = Compile(planNodeRequestSchema)
const completeCheck = Compile(planNodeSchema)

/** As REST takes it: defaults are filled in. @throws ApiError plan_invalid */
export const readPlan = (body: unknown): Plan =>
  completePlan({
    nodes: readNodes(
      withoutNulls(planRequestSchema, body),
      (node): node is PlanNodeRequest => requestCheck.Check(node),
      requestCheck,
    ),
  })

/** As the tools take it: nothing is left out. @throws ApiError plan_invalid */
export const readCompletePlan = (body: unknown): Plan => ({
  nodes: readNodes(body, (node): node is PlanNode => completeCheck.Check(node), completeCheck),
})

/**
 * JSON without a number that would come out as another one, in bounded work. @throws ApiError
 * body_invalid, plan_invalid
 */
export function readExactJson(text: string): unknown {
  assertDepth(text)
  const survey = surveyOf(text)
  assertBounded(survey)
  assertWellFormed(text)
  const changed = changedNumbers(text, survey)
  if (changed.length > 0) throw planInvalid(changed)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError('body_invalid', 'The body is not JSON.', { cause })
  }
}

/** @throws ApiError plan_invalid */
function assertBounded({ values, longNumbers }: JsonSurvey): void {
  const tooMany = (message: string) => planInvalid([{ path: ['body'], message }])
  if (values > VALUES_MAX) throw tooMany(`has more than ${VALUES_MAX} values`)
  if (longNumbers > LONG_NUMBERS_MAX)
    throw tooMany(`has more than ${LONG_NUMBERS_MAX} numbers of over 15 digits: send them as texts`)
}

/** Numbers told. */
const CHANGED_MAX = 20

/** The numbers of a text within its bounds that would come out as others, each at its place. */
export function changedNumbers(
  text: string,
  { inexact }: Pick<JsonSurvey, 'inexact'>,
): readonly RequestProblem[] {
  if (inexact.length === 0) return []
  const placed = placesIn(text)
  // The last one counts where a member is written twice.
  const told = placed.length > 0 ? placed : inexact.map((token) => ({ path: [], token }))
  return told.slice(0, CHANGED_MAX).map(({ path, token }) => ({
    path: ['body', ...path],
    message: `holds ${shorten(token)}, which would become ${Number(token)}: send it as a text`,
  }))
}

function placesIn(text: string): InexactNumber[] {
  try {
    return inexactIn(text)
  } catch {
    return []
  }
}

function readNodes<Node>(
  body: unknown,
  isNode: (node: unknown) => node is Node,
  check: { Errors: typeof requestCheck.Errors },
): Node[] {
  if (!isRecord(body)) throw planInvalid([{ path: ['body'], message: 'is no object with nodes' }])
  const { nodes, ...others } = body
  const problems: RequestProblem[] = Object.keys(others)
    .slice(0, NODES_MAX)
    .map((name) => ({ path: ['body', shorten(name)], message: 'is an unknown member' }))
  if (!Array.isArray(nodes) || nodes.length === 0 || nodes.length > NODES_MAX)
    throw planInvalid([...problems, { path: ['body', 'nodes'], message: `expected 1 to ${NODES_MAX} nodes` }])
  const read: Node[] = []
  for (const [index, node] of nodes.entries()) {
    if (isNode(node)) read.push(node)
    else problems.push(...problemsOf(check.Errors(node), node, ['body', 'nodes', index]))
  }
  if (problems.length > 0) throw planInvalid(problems)
  return read
}

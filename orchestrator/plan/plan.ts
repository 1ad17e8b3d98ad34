/** A plan: its form and limits. The schemas are those of both doors. */
import * as s from '#http/schema.ts'
import { methodSchema, PATH_CHARACTERS_MAX, serviceIdSchema } from '../catalog/service.ts'

export const NODES_MAX = 100
export const NODE_ID_CHARACTERS_MAX = 200
/** A plan with inputs: 100 nodes of some 40 KB. */
export const PLAN_BYTES_MAX = 4 * 1_024 * 1_024

const nodeId = s.text({ minLength: 1, maxLength: NODE_ID_CHARACTERS_MAX })

const nodeProperties = {
  id: nodeId,
  serviceId: serviceIdSchema,
  method: methodSchema,
  path: s.text({
    maxLength: PATH_CHARACTERS_MAX,
    ...s.pattern(
      '^/(?:[^/?#\\\\][^?#\\\\]*)?$',
      'a path that begins with one slash and holds no ?, # or backslash',
    ),
    description: 'Concrete: parameters of the endpoint are filled in.',
  }),
}
const input = s.json(
  'Input of the call. A text `flow://<nodeId>/output#/pointer` stands for a value of another node.',
)
const dependsOn = s.array(nodeId, {
  maxItems: NODES_MAX - 1,
  description: 'Nodes that run first.',
})

/** A node with all its fields, as the tools demand it. */
export const planNodeSchema = s.named('PlanNode', { ...nodeProperties, input, dependsOn })
export const planSchema = s.named('Plan', {
  nodes: s.array(planNodeSchema, { minItems: 1, maxItems: NODES_MAX }),
})

/** As REST takes it: input and dependencies may be left out. */
export const planNodeRequestSchema = s.named('PlanNodeRequest', {
  ...nodeProperties,
  input: s.optional(s.json('Input of the call. Default `{}`.')),
  dependsOn: s.optional(dependsOn),
})
export const planRequestSchema = s.named('PlanRequest', {
  nodes: s.array(planNodeRequestSchema, { minItems: 1, maxItems: NODES_MAX }),
})

export type PlanNode = s.Static<typeof planNodeSchema>
export type Plan = s.Static<typeof planSchema>
export type PlanNodeRequest = s.Static<typeof planNodeRequestSchema>
export type PlanRequest = s.Static<typeof planRequestSchema>

/** The plan with its defaults written out: what is hashed, quoted and run. */
export const completePlan = ({ nodes }: PlanRequest): Plan => ({
  nodes: nodes.map(({ input = {}, dependsOn = [], ...node }) => ({ ...node, input, dependsOn })),
})

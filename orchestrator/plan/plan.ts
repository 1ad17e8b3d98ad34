/** A plan's node: its form and limits. */
import * as s from '#api/http/schema.ts'
import { methodSchema, PATH_CHARACTERS_MAX, SERVICE_ID_PATTERN } from '../catalog/service.ts'

const NODES_MAX = 100
const NODE_ID_CHARACTERS_MAX = 200

const nodeId = s.text({ minLength: 1, maxLength: NODE_ID_CHARACTERS_MAX })

export const planNodeSchema = s.named('PlanNode', {
  id: nodeId,
  serviceId: s.text({ pattern: SERVICE_ID_PATTERN }),
  method: methodSchema,
  path: s.text({ maxLength: PATH_CHARACTERS_MAX, pattern: '^/(?!/)[^?#\\\\]*$' }),
  input: s.json('Input of the call.'),
  dependsOn: s.array(nodeId, { maxItems: NODES_MAX - 1, description: 'Nodes that run first.' }),
})

export type PlanNode = s.Static<typeof planNodeSchema>

/** Subscripts of arrays and JSON. */

import {
  bare,
  type NodeFields,
  nodeList,
  type Rebuild,
  sqlRefusal,
  unwrap,
  type Walk,
} from '../../parse/walk.ts'
import { asText } from './bytesAsText.ts'

/** Subscripts; never `(row).field`, which can also be a call. */
export function rebuildIndirection(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  for (const step of nodeList(fields['indirection'])) {
    if (unwrap(step, walk)?.type !== 'A_Indices') throw sqlRefusal(walk, '(value).field is not allowed')
  }
  const rebuilt = rebuild.fields('A_Indirection', fields, walk)
  const [type = ''] = Object.keys(bare(rebuilt['arg']))
  if (!unbracketed.has(type)) return { A_Indirection: rebuilt }
  // A call that gives an array as it is: around calls the printer puts brackets.
  return { A_Indirection: { ...rebuilt, arg: asText(rebuilt['arg'], walk) } }
}

/** Nodes behind which the grammar reads a subscript in brackets only, which the printer leaves out. */
const unbracketed: ReadonlySet<string> = new Set(['A_ArrayExpr', 'CaseExpr', 'CoalesceExpr', 'MinMaxExpr'])

/**
 * The choices of which an expression gives one: the constants among them are bytes or text as the others
 * are, so that a '0x' is no text of two letters among bytes.
 */

import { hexConstant } from '../../../text.ts'
import {
  bare,
  fieldsOf,
  type NodeFields,
  nodeList,
  type Rebuild,
  stringConstant,
  type Walk,
} from '../../parse/walk.ts'
import { isText } from './bytesAsText.ts'
import { rebuildOperand } from './columns.ts'

/** `coalesce(…)`, `greatest(…)`, `least(…)`. */
export const rebuildChoices =
  (type: 'CoalesceExpr' | 'MinMaxExpr') =>
  ({ args, ...rest }: NodeFields, walk: Walk, rebuild: Rebuild): unknown => ({
    [type]: { ...rebuild.fields(type, rest, walk), args: rebuildAlike(nodeList(args), walk, rebuild) },
  })

/** `ARRAY[…]`; without elements it is as it stands. */
export function rebuildArray({ elements, ...rest }: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const given = elements === undefined ? {} : { elements: rebuildAlike(nodeList(elements), walk, rebuild) }
  return { A_ArrayExpr: { ...rebuild.fields('A_ArrayExpr', rest, walk), ...given } }
}

/** Results of CASE. */
export function rebuildCase({ args, defresult, ...rest }: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const arms = nodeList(args).map((arm) => fieldsOf(arm, 'CaseWhen'))
  const last = defresult === undefined ? [] : [defresult]
  const results = rebuildAlike([...arms.map(({ result }) => result), ...last], walk, rebuild)
  const rebuilt = arms.map(({ result: _, ...arm }, index) => ({
    CaseWhen: { ...rebuild.fields('CaseWhen', arm, walk), result: results[index] },
  }))
  const otherwise = defresult === undefined ? {} : { defresult: results.at(-1) }
  return { CaseExpr: { ...rebuild.fields('CaseExpr', rest, walk), args: rebuilt, ...otherwise } }
}

/** Values of which an expression gives one. */
export function rebuildAlike(values: readonly unknown[], walk: Walk, rebuild: Rebuild): unknown[] {
  const known = values.filter((value) => !('A_Const' in bare(value)))
  const isBytes = values.some((value) => hexConstant(stringConstant(value) ?? '').kind === 'bytes')
  if (known.length === 0 && !isBytes) return values.map((value) => rebuild.node(value, walk))
  const kind = known.some(isText) ? 'text' : 'bytes'
  return values.map((value) =>
    stringConstant(value) === undefined
      ? rebuild.node(value, walk)
      : rebuildOperand(value, kind, walk, rebuild),
  )
}

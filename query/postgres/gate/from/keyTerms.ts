/**
 * Finds, in the parse tree of one SELECT, what narrows the decoded tables in its FROM
 * (decoded/keyTerms.ts).
 */

import {
  type Equality,
  type EqualityConstant,
  keyTermsOf,
  type NamedSource,
} from '../../../decoded/keyTerms.ts'
import {
  isFields,
  type KeyTerms,
  type NodeFields,
  nodeList,
  stringOf,
  unwrap,
  type Walk,
  type WrappedNode,
} from '../../parse/walk.ts'

export function findKeyTerms(select: NodeFields, walk: Walk): KeyTerms {
  const found: Found = { sources: new Map(), hasMergedColumns: false }
  for (const item of nodeList(select['fromClause'])) collectSources(item, walk, found)
  const sources = [...found.sources.values()]
  if (!sources.some(({ table }) => table)) return new Map()
  const equalities = conjuncts(select['whereClause'], walk).flatMap(
    (conjunct) => equality(conjunct, walk) ?? [],
  )
  return new Map(
    [...found.sources].map(([node, source]) => [
      node,
      keyTermsOf(source, sources, equalities, found.hasMergedColumns),
    ]),
  )
}

interface Found {
  readonly sources: Map<NodeFields, NamedSource>
  /** USING and NATURAL make one column of two. */
  hasMergedColumns: boolean
}

function collectSources(item: unknown, walk: Walk, found: Found): void {
  const node = unwrap(item, walk)
  if (!node) return
  const { type, fields } = node
  const alias = isFields(fields['alias']) ? fields['alias'] : undefined
  const name = String(alias?.['aliasname'] ?? fields['relname'] ?? '').toLowerCase()
  const isJoin = type === 'JoinExpr'
  if (isJoin && (fields['isNatural'] === true || fields['usingClause'] !== undefined))
    found.hasMergedColumns = true
  // The name of a join hides the names within it.
  if (isJoin && !alias) {
    collectSources(fields['larg'], walk, found)
    collectSources(fields['rarg'], walk, found)
    return
  }
  const table = alias?.['colnames'] === undefined ? decodedTable(node, walk) : undefined
  found.sources.set(fields, { name, table })
}

function decodedTable({ type, fields }: WrappedNode, walk: Walk): NamedSource['table'] {
  const name = String(fields['relname'])
  if (type !== 'RangeVar' || walk.ctes.has(name)) return undefined
  const source = walk.catalog.get(name.toLowerCase())?.source
  return source?.kind === 'decoded' ? source.table : undefined
}

/** Conditions that WHERE demands of every row. */
function conjuncts(condition: unknown, walk: Walk): WrappedNode[] {
  const node = condition === undefined ? null : unwrap(condition, walk)
  if (!node) return []
  const isAnd = node.type === 'BoolExpr' && node.fields['boolop'] === 'AND_EXPR'
  return isAnd ? nodeList(node.fields['args']).flatMap((part) => conjuncts(part, walk)) : [node]
}

function equality({ type, fields }: WrappedNode, walk: Walk): Equality | undefined {
  if (type !== 'A_Expr' || stringOf(nodeList(fields['name'])[0]) !== '=') return undefined
  const sides = [fields['lexpr'], fields['rexpr']]
  if (fields['kind'] === 'AEXPR_OP') {
    const [column] = sides.flatMap((side) => columnPath(side, walk) ?? [])
    const [value] = sides.flatMap((side) => constant(side) ?? [])
    return column && value && { ...column, values: [value] }
  }
  if (fields['kind'] !== 'AEXPR_IN') return undefined
  const column = columnPath(fields['lexpr'], walk)
  const items = unwrap(fields['rexpr'], walk)?.fields['items']
  const values = nodeList(items).map(constant)
  const known = values.filter((value) => value !== undefined)
  return column && known.length === values.length ? { ...column, values: known } : undefined
}

function columnPath(side: unknown, walk: Walk): Pick<Equality, 'qualifier' | 'column'> | undefined {
  const node = side === undefined ? null : unwrap(side, walk)
  if (node?.type !== 'ColumnRef') return undefined
  const names = nodeList(node.fields['fields']).map(stringOf)
  const column = names.at(-1)
  return column === undefined || names.length > 2
    ? undefined
    : { qualifier: names.length === 2 ? names[0] : undefined, column }
}

function constant(side: unknown): EqualityConstant | undefined {
  const value = isFields(side) ? side['A_Const'] : undefined
  if (!isFields(value)) return undefined
  const { sval, ival, fval } = value
  if (isFields(sval)) return { kind: 'text', text: String(sval['sval'] ?? '') }
  if (isFields(ival)) return { kind: 'number', text: String(ival['ival'] ?? 0) }
  return isFields(fval) ? { kind: 'number', text: String(fval['fval']) } : undefined
}

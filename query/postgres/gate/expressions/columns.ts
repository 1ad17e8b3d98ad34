/** Column references and constants ('0x…' becomes bytes). */

import { nearestOf } from '#text/nearest.ts'
import { hexConstant, oddHexHint } from '../../../text.ts'
import {
  errorAt,
  isFields,
  movedTo,
  type NodeFields,
  nodeList,
  type Rebuild,
  sqlRefusal,
  stringConstant,
  stringOf,
  unwrap,
  type Walk,
} from '../../parse/walk.ts'
import { castTypes, functionRules } from './functions.ts'
import { spelledColumn, spelledSource } from './spelling.ts'

/** Names Postgres itself gives to unnamed outputs. */
const impliedNames: ReadonlySet<string> = new Set([
  '?column?',
  'array',
  'case',
  'coalesce',
  'exists',
  'greatest',
  'grouping',
  'least',
  'nullif',
  'ordinality',
  'row',
  'value',
  'current_date',
  'current_timestamp',
  'localtimestamp',
  ...functionRules.keys(),
  ...castTypes,
])

/**
 * `column`, `table.column`, `*` or `table.*`. The names are checked once the whole query is read: a
 * bare one must be a column's or the query's own, and one behind a table a column of that table
 * (resolve.ts).
 */
export function rebuildColumn(fields: NodeFields, walk: Walk, _rebuild: Rebuild): unknown {
  const parts = nodeList(fields['fields'])
  if (parts.length > 2) throw sqlRefusal(walk, 'name columns as column or table.column')
  const names = parts.map((part, index) => {
    const wrapped = unwrap(part, walk)
    if (wrapped?.type === 'A_Star' && index === parts.length - 1) return '*'
    const name = stringOf(part)
    if (name === undefined) throw sqlRefusal(walk, 'this column reference is not supported')
    return name
  })
  const last = spelledColumn(names.at(-1) ?? '', walk)
  if (last !== '*' && names.length === 1) walk.findings.columnReferences.push({ name: last, at: walk.at })
  const path = [...names.slice(0, -1).map((name) => spelledSource(name, walk)), last]
  const reference = {
    fields: path.map((name) => (name === '*' ? { A_Star: {} } : { String: { sval: name } })),
  }
  walk.findings.places.set(reference, walk.at)
  return { ColumnRef: reference }
}

/**
 * @throws UserQueryError `sql_invalid` at the first reference to a name that no table and no output
 * has.
 */
export function assertColumnNames(walk: Walk): void {
  const known = new Set([...walk.findings.names, ...impliedNames])
  for (const relation of walk.catalog.values()) for (const { name } of relation.columns) known.add(name)
  for (const { name, at } of walk.findings.columnReferences) {
    if (known.has(name) || /^column\d+$/.test(name)) continue
    throw errorAt({ ...walk, at }, 'sql_invalid', `there is no column "${name}"`, nearest(name, walk))
  }
}

/** A column of the tables that are read, else of any. */
function nearest(name: string, { catalog, findings }: Walk): string | undefined {
  const read = [...catalog.values()].filter((relation) => findings.relations.has(relation.name))
  for (const relations of [read, [...catalog.values()]]) {
    const names = relations.flatMap((relation) => relation.columns.map((column) => column.name))
    const found = nearestOf(name, names)
    const relation = relations.find(({ columns }) => columns.some((column) => column.name === found))
    if (found !== undefined && relation) return `did you mean ${relation.name}.${found}?`
  }
  const [relation] = read
  return (
    relation && `columns of ${relation.name}: ${relation.columns.map((column) => column.name).join(', ')}`
  )
}

export function rebuildConstant(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const text = stringConstant({ A_Const: fields })
  const hex = text === undefined ? { kind: 'none' as const } : hexConstant(text)
  if (hex.kind === 'bytes') return bytesConstant(hex.hex)
  if (hex.kind === 'odd') throw errorAt(walk, 'sql_invalid', "'0x…' with an odd number of digits", oddHexHint)
  return { A_Const: rebuild.fields('A_Const', fields, walk) }
}

/**
 * The meaning of a '0x…' beside an operator: bytes (`'0x'` too) if bytes are compared, else the characters.
 */
export function rebuildOperand(
  operand: unknown,
  comparedWith: 'bytes' | 'text',
  walk: Walk,
  rebuild: Rebuild,
): unknown {
  const items = isFields(operand) && isFields(operand['List']) ? operand['List']['items'] : undefined
  if (items !== undefined) {
    const rebuilt = nodeList(items).map((item) => rebuildOperand(item, comparedWith, walk, rebuild))
    return { List: { items: rebuilt } }
  }
  const elements = isFields(operand) && isFields(operand['A_ArrayExpr']) ? operand['A_ArrayExpr'] : undefined
  if (elements?.['elements'] !== undefined) {
    const rebuilt = nodeList(elements['elements']).map((item) =>
      rebuildOperand(item, comparedWith, walk, rebuild),
    )
    return { A_ArrayExpr: { elements: rebuilt } }
  }
  const text = stringConstant(operand)
  if (text === undefined) return rebuild.node(operand, walk)
  if (comparedWith === 'text') return textConstant(text)
  const place = isFields(operand) && isFields(operand['A_Const']) ? movedTo(walk, operand['A_Const']) : walk
  return hexConstant(text).kind === 'empty' ? bytesConstant('') : rebuild.node(operand, place)
}

export const textConstant = (text: string): NodeFields => ({
  A_Const: { sval: { sval: text } },
})

/** `constant::text` */
export const castAsText = (constant: NodeFields): NodeFields => ({
  TypeCast: { arg: constant, typeName: { names: [{ String: { sval: 'text' } }], typemod: -1 } },
})

export const bytesConstant = (hex: string): NodeFields => ({
  TypeCast: {
    arg: { A_Const: { sval: { sval: `\\x${hex}` } } },
    typeName: { names: [{ String: { sval: 'bytea' } }], typemod: -1 },
  },
})

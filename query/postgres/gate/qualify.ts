/**
 * QUALIFY, which chooses among rows by what windows make of them: the checked SELECT becomes a
 * sub-select whose rows an outer one filters. How it is read, qualifyWords.ts says.
 */

import { mark } from '../parse/qualifyWords.ts'
import {
  fieldsOf,
  integerConstant,
  isFields,
  type NodeFields,
  nameParts,
  nodeList,
  type Qualified,
} from '../parse/walk.ts'
import { columnPath } from './comparisons.ts'

export const isQualify = (definition: NodeFields): boolean => definition['name'] === mark

/** The clause of a SELECT, as the condition alone. */
export function conditionOf(select: NodeFields): unknown {
  const definition = nodeList(select['windowClause']).map((entry) => fieldsOf(entry, 'WindowDef'))
  return nodeList(definition.find(isQualify)?.['partitionClause'])[0]
}

/** The condition with expressions of the list in place of their names, where no column has these. */
export function namedCondition(select: NodeFields, columns: readonly string[]): unknown {
  const given = nodeList(select['targetList']).flatMap((target) => {
    const { name, val } = fieldsOf(target, 'ResTarget')
    return typeof name === 'string' && !columns.includes(name) ? [[name, val] as const] : []
  })
  return withNames(conditionOf(select), new Map(given))
}

/** The tree in which each SELECT with the clause is filtered by one around it. */
export function withQualify(tree: NodeFields, qualified: ReadonlyMap<unknown, Qualified>): NodeFields {
  if (qualified.size === 0) return tree
  const copied = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copied)
    return isFields(value) ? withQualify(value, qualified) : value
  }
  const found = qualified.get(tree)
  const entries = Object.entries(tree).map(([key, inner]) => [key, copied(inner)] as const)
  // Places stand under a symbol, which entries leave out.
  const copy: NodeFields = { ...tree, ...Object.fromEntries(entries) }
  return found ? filtered(copy, found) : copy
}

const rows = 'qualified'
const condition = 'chosen'

/** `SELECT c1 AS … FROM (SELECT …, condition) AS qualified(c1, …, chosen) WHERE chosen`. */
function filtered(select: NodeFields, { outputs, columns }: Qualified): NodeFields {
  const { distinctClause, sortClause, limitCount, limitOffset, limitOption, ...inner } = select
  const windows = nodeList(inner['windowClause']).filter((entry) => !isQualify(fieldsOf(entry, 'WindowDef')))
  const hidden: unknown[] = [namedCondition(select, columns)]
  const names = outputs.map((_, index) => `c${index + 1}`)
  /** The column of an expression that orders the rows; one of its own where the list has none. */
  const column = (expression: unknown): unknown => {
    const position = integerConstant(expression) ?? outputs.indexOf(onlyName(expression) ?? '') + 1
    const name = names[position - 1]
    if (name !== undefined) return reference(name)
    if (integerConstant(expression) !== undefined) return expression
    return reference(`s${hidden.push(expression)}`)
  }
  const distinct = nodeList(distinctClause).map((entry) =>
    Object.keys(bareOf(entry)).length > 0 ? column(entry) : entry,
  )
  const sort = nodeList(sortClause).map((entry) => {
    const fields = fieldsOf(entry, 'SortBy')
    return { SortBy: { ...fields, node: column(fields['node']) } }
  })
  const { windowClause: _, targetList, ...rest } = inner
  const sub = {
    targetList: [...nodeList(targetList), ...hidden.map((val) => ({ ResTarget: { val } }))],
    ...rest,
    ...(windows.length > 0 && { windowClause: windows }),
  }
  const all = [...names, condition, ...hidden.slice(1).map((_, index) => `s${index + 2}`)]
  return {
    ...(distinctClause !== undefined && { distinctClause: distinct }),
    targetList: outputs.map((name, index) => ({ ResTarget: { name, val: reference(names[index] ?? '') } })),
    fromClause: [
      {
        RangeSubselect: {
          subquery: { SelectStmt: { ...sub, limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE' } },
          alias: { aliasname: rows, colnames: nameParts(...all) },
        },
      },
    ],
    whereClause: reference(condition),
    ...(sortClause !== undefined && { sortClause: sort }),
    ...(limitOffset !== undefined && { limitOffset }),
    ...(limitCount !== undefined && { limitCount }),
    limitOption,
    op: 'SETOP_NONE',
  }
}

const bareOf = (value: unknown): NodeFields => (isFields(value) ? value : {})

const reference = (name: string): NodeFields => ({
  ColumnRef: { fields: [{ String: { sval: rows } }, { String: { sval: name } }] },
})

/** A name that stands alone. */
function onlyName(expression: unknown): string | undefined {
  const path = columnPath(expression)
  return path?.length === 1 ? path[0] : undefined
}

/** The expression with what the list calls by a name in the name's place, outside of sub-selects. */
function withNames(expression: unknown, given: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(expression)) return expression.map((item) => withNames(item, given))
  if (!isFields(expression) || 'SelectStmt' in expression) return expression
  const named = given.get(onlyName(expression) ?? '')
  if (named !== undefined) return named
  const entries = Object.entries(expression).map(([key, inner]) => [key, withNames(inner, given)] as const)
  return { ...expression, ...Object.fromEntries(entries) }
}

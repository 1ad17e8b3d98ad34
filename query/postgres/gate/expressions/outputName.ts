/** The name Postgres gives to an output that has none (FigureColname in parse_target.c). */

import { isFields, type NodeFields, nodeList, stringOf } from '../../parse/walk.ts'
import { surroundedByAsText } from './bytesAsText.ts'
import { ownFunctions } from './functions.ts'

/** A name of weak strength gives way to the one around it. */
interface Named {
  readonly name: string
  readonly isStrong: boolean
}

/** The columns of a sub-select that was resolved before. */
export type ColumnsOf = (select: unknown) => readonly string[]

export const unnamed = '?column?'

export function outputName(expression: unknown, columnsOf: ColumnsOf): string {
  return nameOf(expression, columnsOf)?.name ?? unnamed
}

const strong = (name: string | undefined): Named | undefined =>
  name === undefined ? undefined : { name, isStrong: true }

const valueNames: Readonly<Record<string, string>> = {
  SVFOP_CURRENT_DATE: 'current_date',
  SVFOP_CURRENT_TIMESTAMP: 'current_timestamp',
  SVFOP_LOCALTIMESTAMP: 'localtimestamp',
}

function nameOf(expression: unknown, columnsOf: ColumnsOf): Named | undefined {
  if (!isFields(expression)) return undefined
  const [[type, fields] = ['', {}]] = Object.entries(expression)
  if (!isFields(fields)) return undefined
  switch (type) {
    case 'ColumnRef':
      return strong(stringOf(nodeList(fields['fields']).at(-1)))
    case 'FuncCall': {
      const surrounded = surroundedByAsText(fields)
      if (surrounded !== undefined) return nameOf(surrounded, columnsOf)
      return strong(userNameOf(fields))
    }
    case 'A_Indirection':
      return nameOf(fields['arg'], columnsOf)
    case 'A_Expr':
      return fields['kind'] === 'AEXPR_NULLIF' ? strong('nullif') : undefined
    case 'TypeCast':
      return nameOfCast(fields, columnsOf)
    case 'CaseExpr': {
      const inner = nameOf(fields['defresult'], columnsOf)
      return inner?.isStrong ? inner : { name: 'case', isStrong: false }
    }
    case 'SubLink':
      return nameOfSubLink(fields, columnsOf)
    case 'GroupingFunc':
      return strong('grouping')
    case 'A_ArrayExpr':
      return strong('array')
    case 'RowExpr':
      return strong('row')
    case 'CoalesceExpr':
      return strong('coalesce')
    case 'MinMaxExpr':
      return strong(fields['op'] === 'IS_LEAST' ? 'least' : 'greatest')
    case 'SQLValueFunction':
      return strong(valueNames[String(fields['op'])])
    default:
      return undefined
  }
}

const userNames = new Map([...ownFunctions].map(([name, own]) => [own, name]))

/** As users call the function. */
function userNameOf(call: NodeFields): string | undefined {
  const name = stringOf(nodeList(call['funcname']).at(-1))
  return userNames.get(name ?? '') ?? name
}

function nameOfCast(fields: NodeFields, columnsOf: ColumnsOf): Named | undefined {
  const inner = nameOf(fields['arg'], columnsOf)
  const typeName = isFields(fields['typeName']) ? fields['typeName'] : {}
  const type = stringOf(nodeList(typeName['names']).at(-1))
  return inner?.isStrong || type === undefined ? inner : { name: type, isStrong: false }
}

function nameOfSubLink(fields: NodeFields, columnsOf: ColumnsOf): Named | undefined {
  switch (fields['subLinkType']) {
    case 'EXISTS_SUBLINK':
      return strong('exists')
    case 'ARRAY_SUBLINK':
      return strong('array')
    case 'EXPR_SUBLINK':
      return strong(columnsOf(fields['subselect'])[0])
    default:
      return undefined
  }
}

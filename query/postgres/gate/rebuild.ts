/**
 * Builds a new parse tree out of a user's, copying only what nodes.ts lists. Nothing reaches the
 * printer that was not checked here, and the user's tree itself is never printed.
 */

import { SQL_NODES_MAX } from '../../text.ts'
import { placed } from '../parse/places.ts'
import {
  isFields,
  movedTo,
  type NodeFields,
  nodeList,
  type Rebuild,
  sqlRefusal,
  unwrap,
  type Walk,
} from '../parse/walk.ts'
import { rebuildArray, rebuildCase, rebuildChoices } from './expressions/choices.ts'
import { rebuildColumn, rebuildConstant } from './expressions/columns.ts'
import {
  rebuildCall,
  rebuildCast,
  rebuildLogic,
  rebuildOperator,
  rebuildSubLink,
  rebuildTypeName,
} from './expressions/expressions.ts'
import { rebuildIndirection } from './expressions/subscripts.ts'
import {
  rebuildAlias,
  rebuildJoin,
  rebuildRelation,
  rebuildSelect,
  rebuildTableFunction,
  rebuildTarget,
} from './from/select.ts'
import { type FieldRule, nodeRules } from './nodes.ts'

/** Nesting of nodes; honest queries stay under 60, and the printer recurses as deep. */
const NODE_DEPTH_MAX = 400

type Special = (fields: NodeFields, walk: Walk, rebuild: Rebuild) => unknown

/** Nodes that need more than their fields' rules. Each returns a wrapped node. */
const specials: Readonly<Record<string, Special>> = {
  SelectStmt: rebuildSelect,
  RangeVar: rebuildRelation,
  RangeFunction: rebuildTableFunction,
  JoinExpr: rebuildJoin,
  ResTarget: rebuildTarget,
  Alias: rebuildAlias,
  ColumnRef: rebuildColumn,
  A_Const: rebuildConstant,
  A_Indirection: rebuildIndirection,
  A_Expr: rebuildOperator,
  BoolExpr: rebuildLogic,
  CoalesceExpr: rebuildChoices('CoalesceExpr'),
  MinMaxExpr: rebuildChoices('MinMaxExpr'),
  CaseExpr: rebuildCase,
  A_ArrayExpr: rebuildArray,
  FuncCall: rebuildCall,
  SubLink: rebuildSubLink,
  TypeCast: rebuildCast,
  TypeName: rebuildTypeName,
}

/** Nodes a user would call by another name, for the message. */
const knownRefusals: Readonly<Record<string, string>> = {
  ParamRef: 'parameters ($1) are not supported',
  RangeTableSample: 'TABLESAMPLE is not allowed',
  CollateClause: 'COLLATE is not allowed',
  XmlExpr: 'XML functions are not allowed',
  JsonTable: 'JSON_TABLE is not allowed',
  RangeTableFunc: 'XMLTABLE is not allowed',
  InsertStmt: 'only SELECT is allowed',
  UpdateStmt: 'only SELECT is allowed',
  DeleteStmt: 'only SELECT is allowed',
  MergeStmt: 'only SELECT is allowed',
}

const fieldRefusals: Readonly<Record<string, string>> = {
  intoClause: 'SELECT INTO is not allowed',
  lockingClause: 'FOR UPDATE and FOR SHARE are not allowed',
  recursive: 'WITH RECURSIVE is not allowed',
  func_variadic: 'VARIADIC is not allowed',
  schemaname: 'name tables without a schema',
  catalogname: 'name tables without a database',
  bsval: 'bit strings are not allowed',
  useOp: 'ORDER BY … USING is not allowed',
  inhOpt: 'ONLY is not allowed',
  indirection: 'this target is not allowed',
}

/** @throws UserQueryError `sql_refused` at the first thing that is not allowed. */
export function rebuildStatement(statement: unknown, walk: Walk): unknown {
  return rebuildNode(statement, walk, 0)
}

function rebuildNode(value: unknown, outer: Walk, depth: number): unknown {
  if (depth > NODE_DEPTH_MAX) throw sqlRefusal(outer, 'the query is nested too deeply')
  const wrapped = unwrap(value, outer)
  if (!wrapped) return {}
  if (++outer.findings.nodeCount > SQL_NODES_MAX) throw sqlRefusal(outer, 'the query has too many parts')
  const { type, fields } = wrapped
  if (!nodeRules.has(type))
    throw sqlRefusal(movedTo(outer, fields), knownRefusals[type] ?? `${type} is not allowed`)
  const walk = movedTo(outer, fields)
  const rebuild = rebuildAt(depth)
  const special = specials[type]
  return special ? special(fields, walk, rebuild) : { [type]: rebuild.fields(type, fields, walk) }
}

const rebuildAt = (depth: number): Rebuild => ({
  node: (value, walk) => rebuildNode(value, walk, depth + 1),
  fields: (type, fields, walk) => rebuildFields(type, fields, walk, depth),
})

function rebuildFields(type: string, fields: NodeFields, walk: Walk, depth: number): NodeFields {
  const rules = nodeRules.get(type) ?? {}
  const result: Record<string | symbol, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    const rule = rules[name]
    if (!rule) throw sqlRefusal(walk, fieldRefusals[name] ?? `${type} with ${name} is not allowed`)
    if (rule.kind !== 'place') result[name] = rebuildField(name, rule, value, walk, depth)
  }
  return placed(result, fields)
}

function rebuildField(name: string, rule: FieldRule, value: unknown, walk: Walk, depth: number): unknown {
  switch (rule.kind) {
    case 'node':
      return rebuildNode(value, walk, depth + 1)
    case 'nodes':
      if (!Array.isArray(value)) break
      return nodeList(value).map((item) => rebuildNode(item, walk, depth + 1))
    case 'bare':
      if (!isFields(value)) break
      return unwrapAs(rule.type, rebuildNode({ [rule.type]: value }, walk, depth + 1), walk)
    case 'text':
      if (typeof value === 'string') return value
      break
    case 'number':
      if (typeof value === 'number') return value
      break
    case 'flag':
      if (typeof value === 'boolean') return value
      break
    case 'word':
      if (typeof value === 'string' && rule.words.includes(value)) return value
      break
    case 'place':
      return undefined
  }
  throw sqlRefusal(walk, wordRefusals[String(value)] ?? `${name} ${String(value)} is not allowed`)
}

const wordRefusals: Readonly<Record<string, string>> = {
  LIMIT_OPTION_WITH_TIES: 'WITH TIES is not allowed',
  AEXPR_SIMILAR: 'SIMILAR TO is not allowed; use LIKE',
  SORTBY_USING: 'ORDER BY … USING is not allowed',
  SVFOP_CURRENT_USER: 'CURRENT_USER is not allowed',
  SVFOP_SESSION_USER: 'SESSION_USER is not allowed',
}

function unwrapAs(type: string, node: unknown, walk: Walk): NodeFields {
  const inner = isFields(node) ? node[type] : undefined
  if (!isFields(inner)) throw sqlRefusal(walk, 'this construct is not supported')
  return inner
}

/**
 * SELECT, its CTEs and what stands in FROM: scopes, catalog relations, table functions, literal
 * limits.
 */

import { SELECT_COUNT_MAX, SELECT_DEPTH_MAX } from '../../../text.ts'
import { functionHint, recursiveHint, tableHint } from '../../../words/hints.ts'
import {
  errorAt,
  integerConstant,
  isFields,
  movedTo,
  type NodeFields,
  nodeList,
  type Rebuild,
  sqlRefusal,
  stringOf,
  unwrap,
  type Walk,
} from '../../parse/walk.ts'
import { isNamedAsText } from '../expressions/bytesAsText.ts'
import { functionRules } from '../expressions/functions.ts'
import { outputName } from '../expressions/outputName.ts'
import { spelledColumn, spelledSource } from '../expressions/spelling.ts'
import { findKeyTerms } from './keyTerms.ts'
import { relationSelect } from './relationSelect.ts'
import { asSeries, seriesName } from './series.ts'

/** A SELECT, VALUES or set operation: CTEs become visible one after the other, and to the body. */
export function rebuildSelect(fields: NodeFields, outer: Walk, rebuild: Rebuild): unknown {
  const isOperand = fields['op'] !== undefined && fields['op'] !== 'SETOP_NONE'
  const walk = isOperand ? outer : enterSelect(outer)
  const withTerms = (inner: Walk): Walk => ({ ...inner, keyTerms: findKeyTerms(fields, inner) })
  assertLimit(fields['limitCount'], 'LIMIT', walk)
  assertLimit(fields['limitOffset'], 'OFFSET', walk)
  const withClause = fields['withClause']
  if (withClause === undefined) return { SelectStmt: rebuild.fields('SelectStmt', fields, withTerms(walk)) }
  if (!isFields(withClause)) throw sqlRefusal(walk, 'this WITH is not supported')
  const { withClause: _, ...body } = fields
  const { clause, inner } = rebuildWith(withClause, walk, rebuild)
  return { SelectStmt: { withClause: clause, ...rebuild.fields('SelectStmt', body, withTerms(inner)) } }
}

function enterSelect(walk: Walk): Walk {
  const selectDepth = walk.selectDepth + 1
  if (selectDepth > SELECT_DEPTH_MAX) throw sqlRefusal(walk, `more than ${SELECT_DEPTH_MAX} levels of SELECT`)
  if (++walk.findings.selectCount > SELECT_COUNT_MAX)
    throw sqlRefusal(walk, `more than ${SELECT_COUNT_MAX} SELECTs`)
  return { ...walk, selectDepth }
}

function assertLimit(limit: unknown, word: string, walk: Walk): void {
  if (limit === undefined) return
  const value = integerConstant(limit)
  if (value !== undefined && value >= 0) return
  const place = movedTo(walk, unwrap(limit, walk)?.fields ?? {})
  throw sqlRefusal(place, `${word} must be a whole number, written out`)
}

function rebuildWith(
  withClause: NodeFields,
  outer: Walk,
  rebuild: Rebuild,
): { clause: NodeFields; inner: Walk } {
  const { ctes, ...rest } = withClause
  if (rest['recursive'] === true) throw sqlRefusal(outer, 'WITH RECURSIVE is not allowed', recursiveHint)
  let walk = outer
  const rebuilt: unknown[] = []
  for (const cte of nodeList(ctes)) {
    rebuilt.push(rebuildCte(cte, walk, rebuild))
    const inner = unwrap(cte, walk)?.fields ?? {}
    walk = { ...walk, ctes: new Set([...walk.ctes, String(inner['ctename'])]) }
  }
  return { clause: { ...rebuild.fields('WithClause', rest, outer), ctes: rebuilt }, inner: walk }
}

function rebuildCte(cte: unknown, walk: Walk, rebuild: Rebuild): unknown {
  const wrapped = unwrap(cte, walk)
  if (wrapped?.type !== 'CommonTableExpr') throw sqlRefusal(walk, 'this WITH is not supported')
  const query = unwrap(wrapped.fields['ctequery'], walk)
  if (query?.type !== 'SelectStmt') throw sqlRefusal(walk, 'a CTE must be a SELECT')
  const { aliascolnames, ...rest } = wrapped.fields
  const checked = rebuild.fields('CommonTableExpr', rest, walk)
  const columns = aliascolnames === undefined ? {} : { aliascolnames: spelledNames(aliascolnames, walk) }
  return { CommonTableExpr: { ...checked, ...columns } }
}

/**
 * A name in FROM: a CTE in scope stays, a relation of the catalog becomes a sub-select of its
 * columns.
 */
export function rebuildRelation(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const checked = rebuild.fields('RangeVar', fields, walk)
  if (checked['inh'] !== true) throw sqlRefusal(walk, 'ONLY is not allowed')
  const name = String(checked['relname'])
  if (walk.ctes.has(name)) return { RangeVar: checked }
  const relation = walk.catalog.get(name.toLowerCase())
  if (!relation) throw unknownRelation(name, walk)
  walk.findings.relations.add(relation.name)
  const alias = checked['alias'] ?? { aliasname: spelledSource(name, walk) }
  const terms = walk.keyTerms.get(fields) ?? []
  const subquery = relationSelect(relation, terms, walk.boundRanges)
  walk.findings.relationColumns.set(subquery, relation.columns)
  return { RangeSubselect: { subquery, alias } }
}

function unknownRelation(name: string, walk: Walk): Error {
  return errorAt(walk, 'sql_invalid', `there is no table "${name}"`, tableHint(name, walk.catalog))
}

/** A function in FROM: one of the set-returning functions of the list, alone. */
export function rebuildTableFunction(given: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { functions, ...rest } = asSeries(given, walk)
  const rebuilt = nodeList(functions).map((entry) => rebuildTableCall(entry, walk, rebuild))
  return { RangeFunction: { ...rebuild.fields('RangeFunction', rest, walk), functions: rebuilt } }
}

function rebuildTableCall(entry: unknown, outer: Walk, rebuild: Rebuild): unknown {
  const items = nodeList(unwrap(entry, outer)?.fields['items'])
  const [call, definitions] = items
  const wrapped = unwrap(call, outer)
  const walk = movedTo(outer, wrapped?.fields ?? {})
  if (items.length !== 2 || !wrapped || wrapped.type !== 'FuncCall' || unwrap(definitions, walk)) {
    throw sqlRefusal(walk, 'only plain table functions may stand in FROM')
  }
  const names = nodeList(wrapped.fields['funcname'])
  const name = stringOf(names[0]) ?? ''
  if (names.length !== 1 || functionRules.get(name)?.position !== 'table') {
    throw sqlRefusal(
      walk,
      `${name} is not allowed in FROM`,
      functionHint('postgres', name, functionRules.keys()),
    )
  }
  const { funcname, args, funcformat, location: _, ...others } = wrapped.fields
  if (Object.keys(others).length > 0) throw sqlRefusal(walk, 'aggregates and windows are not allowed in FROM')
  const checked = rebuild.fields('FuncCall', { funcname, args, funcformat }, walk)
  const made = name === 'generate_series' ? { funcname: seriesName(nodeList(args), walk) } : {}
  return { List: { items: [{ FuncCall: { ...checked, ...made } }, {}] } }
}

/** `name` of the list. */
export function rebuildTarget(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { name, ...rest } = fields
  const checked = rebuild.fields('ResTarget', rest, walk)
  if (typeof name === 'string') return { ResTarget: { name: namedColumn(name, walk), ...checked } }
  // Postgres would name it after the function around the column.
  if (!isNamedAsText(checked['val'])) return { ResTarget: checked }
  return { ResTarget: { name: outputName(checked['val'], () => []), ...checked } }
}

/** `AS name (columns)` in FROM. */
export function rebuildAlias(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { aliasname, colnames, ...rest } = fields
  const checked = rebuild.fields('Alias', rest, walk)
  const name = spelledSource(String(aliasname), walk)
  walk.findings.names.add(name)
  const columns = colnames === undefined ? {} : { colnames: spelledNames(colnames, walk) }
  return { Alias: { aliasname: name, ...columns, ...checked } }
}

/** `USING (columns)`. */
export function rebuildJoin(fields: NodeFields, walk: Walk, rebuild: Rebuild): unknown {
  const { usingClause, ...rest } = fields
  const checked = rebuild.fields('JoinExpr', rest, walk)
  return {
    JoinExpr:
      usingClause === undefined ? checked : { ...checked, usingClause: spelledNames(usingClause, walk) },
  }
}

function spelledNames(names: unknown, walk: Walk): unknown[] {
  return nodeList(names).map((entry) => {
    const name = stringOf(entry)
    if (name === undefined) throw sqlRefusal(walk, 'this name is not supported')
    return { String: { sval: namedColumn(name, walk) } }
  })
}

/** Remembers the names a query gives to its outputs, so that references to them are known. */
function namedColumn(name: string, walk: Walk): string {
  const spelled = spelledColumn(name, walk)
  walk.findings.names.add(spelled)
  return spelled
}

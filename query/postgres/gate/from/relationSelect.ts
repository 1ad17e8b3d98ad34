/**
 * The parse tree a relation of the catalog stands for: its listed columns, within its covered
 * blocks.
 */

import type { BlockRange } from '#ingest/range.ts'
import type { KeyTerm } from '../../../decoded/keyTerms.ts'
import type { BoundRelation } from '../../../relations/catalog.ts'
import { parseStatements } from '../../parse/parse.ts'
import { isFields, type NodeFields } from '../../parse/walk.ts'
import { decodedSelect } from './decodedSelect.ts'

/**
 * A wrapped SelectStmt. Columns are listed one by one, so that `*` is what the catalog says it is.
 * @param boundRanges how many ranges of blocks are given as parameters, `$1` to `$2` and so on;
 * absent: all blocks
 */
export function relationSelect(
  relation: BoundRelation,
  terms: readonly KeyTerm[] = [],
  boundRanges?: number,
): NodeFields {
  const select = {
    targetList: relation.columns.map(({ name }) => ({ ResTarget: { val: column(name) } })),
    fromClause: [source(relation, terms)],
    limitOption: 'LIMIT_OPTION_DEFAULT',
    op: 'SETOP_NONE',
  }
  const { blockColumn, ranges } = relation
  if (blockColumn === null) return { SelectStmt: select }
  const conditions = [
    ...(ranges ? [within(blockColumn, ranges.map(boundsOf))] : []),
    ...(boundRanges === undefined ? [] : [within(blockColumn, parameters(boundRanges))]),
  ]
  const [only, ...others] = conditions
  if (!only) return { SelectStmt: select }
  const whereClause = others.length === 0 ? only : { BoolExpr: { boolop: 'AND_EXPR', args: conditions } }
  return { SelectStmt: { ...select, whereClause } }
}

type Bounds = readonly [from: NodeFields, to: NodeFields]

const boundsOf = ({ from, to }: BlockRange): Bounds => [integer(from), integer(to)]

const parameters = (count: number): readonly Bounds[] =>
  Array.from({ length: count }, (_, index) => [parameter(2 * index + 1), parameter(2 * index + 2)])

const parameter = (number: number): NodeFields => ({ ParamRef: { number } })

const column = (name: string): NodeFields => ({ ColumnRef: { fields: [{ String: { sval: name } }] } })

function source({ source, name }: BoundRelation, terms: readonly KeyTerm[]): NodeFields {
  if (source.kind === 'decoded') {
    const subquery = parsed(decodedSelect(source.schema, source.table, terms))
    return { RangeSubselect: { subquery, alias: { aliasname: name } } }
  }
  if (source.kind === 'derived') throw new TypeError(`${name} is derived, which Postgres has no relations of`)
  return { RangeVar: { schemaname: source.schema, relname: source.name, inh: true, relpersistence: 'p' } }
}

/** Parses text of the program's own making; it was never a user's. */
function parsed(sql: string): unknown {
  const [statement] = parseStatements(sql)
  return isFields(statement) ? statement['stmt'] : undefined
}

function within(blockColumn: string, ranges: readonly Bounds[]): NodeFields {
  const tests = ranges.map((bounds) => between(blockColumn, bounds))
  const [only] = tests
  if (!only) return { A_Const: { boolval: {} } }
  return tests.length === 1 ? only : { BoolExpr: { boolop: 'OR_EXPR', args: tests } }
}

function between(blockColumn: string, bounds: Bounds): NodeFields {
  return {
    A_Expr: {
      kind: 'AEXPR_BETWEEN',
      name: [{ String: { sval: 'BETWEEN' } }],
      lexpr: column(blockColumn),
      rexpr: { List: { items: bounds } },
    },
  }
}

/** Heights above 32 bits are written as the grammar writes them, as decimal text. */
const integer = (value: number): NodeFields =>
  value <= 2_147_483_647
    ? { A_Const: { ival: value === 0 ? {} : { ival: value } } }
    : { A_Const: { fval: { fval: String(value) } } }

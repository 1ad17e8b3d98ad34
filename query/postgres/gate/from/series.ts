/**
 * `generate_series` and `numbers` in FROM. Bounds that are written out are checked here and counted
 * by the server's own function; others go to one of ours of the same name, which raises an error
 * where a series grows too long.
 */

import {
  isBoundedSeries,
  numbersBounds,
  numbersProblem,
  SERIES_ROWS_MAX,
  seriesProblem,
} from '../../../text.ts'
import { lateralHint, longSeriesHint, seriesHint } from '../../../words/hints.ts'
import {
  bare,
  fieldsOf,
  integerConstant,
  isFields,
  movedTo,
  type NodeFields,
  nameParts,
  nodeList,
  ownName,
  sqlRefusal,
  stringOf,
  type Walk,
} from '../../parse/walk.ts'

/** `numbers(count)` as the series it is, with its column called `number`. */
export function asSeries(fields: NodeFields, walk: Walk): NodeFields {
  const [entry, ...others] = nodeList(fields['functions'])
  const [call] = nodeList(fieldsOf(entry, 'List')['items'])
  const { funcname, args } = fieldsOf(call, 'FuncCall')
  if (others.length > 0 || stringOf(nodeList(funcname)[0]) !== 'numbers' || nodeList(funcname).length > 1)
    return fields
  const bounds = numbersBounds(nodeList(args).map(integerConstant))
  const place = movedTo(walk, fieldsOf(call, 'FuncCall'))
  if (!bounds || nodeList(args).length === 0) throw sqlRefusal(place, numbersProblem, seriesHint)
  const series = {
    funcname: nameParts('generate_series'),
    args: bounds.map((value) => ({ A_Const: { ival: value === 0 ? {} : { ival: value } } })),
    funcformat: 'COERCE_EXPLICIT_CALL',
  }
  const alias = { aliasname: 'numbers', colnames: nameParts('number'), ...bare(fields['alias']) }
  return { ...fields, functions: [{ List: { items: [{ FuncCall: series }, {}] } }], alias }
}

/**
 * The name of the function that makes this series.
 * @throws UserQueryError `sql_refused` where its bounds are columns, or too far apart
 */
export function seriesName(args: readonly unknown[], walk: Walk): readonly NodeFields[] {
  if (args.length < 2 || args.length > 3 || args.some(namesColumn))
    throw sqlRefusal(walk, 'generate_series takes constants and sub-selects: from, to, step', lateralHint)
  const bounds = args.map(integerConstant)
  const [from, to, step = 1] = bounds
  if (bounds.includes(undefined) || from === undefined || to === undefined)
    return ownName('generate_series', walk)
  if (!isBoundedSeries(from, to, step)) throw sqlRefusal(walk, seriesProblem, seriesHint)
  return nameParts('generate_series')
}

/** Whether a column stands in it, but for those of sub-selects. */
function namesColumn(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(namesColumn)
  if (!isFields(node)) return false
  return Object.entries(node).some(
    ([type, inner]) => type === 'ColumnRef' || (type !== 'subselect' && namesColumn(inner)),
  )
}

/** Arguments of the server's own functions of this name. */
const overloads = [
  ['integer', 'integer DEFAULT 1'],
  ['bigint', 'bigint DEFAULT 1'],
  ['numeric', 'numeric DEFAULT 1'],
  ['timestamp', 'interval'],
  ['timestamptz', 'interval'],
] as const

/** The statements that make the functions beside the views. `schema` is quoted. */
export const seriesStatements = (schema: string): readonly string[] =>
  overloads.map(
    ([type, step]) => `CREATE FUNCTION ${schema}.generate_series(first ${type}, last ${type}, step ${step})
  RETURNS SETOF ${type} LANGUAGE plpgsql STABLE ROWS 1000 AS $function$
DECLARE
  made bigint;
BEGIN
  RETURN QUERY SELECT pg_catalog.generate_series(first, last, step) LIMIT ${SERIES_ROWS_MAX + 1};
  GET DIAGNOSTICS made = ROW_COUNT;
  IF made OPERATOR(pg_catalog.>) ${SERIES_ROWS_MAX} THEN
    RAISE EXCEPTION 'generate_series gives more than ${SERIES_ROWS_MAX} rows'
      USING ERRCODE = 'program_limit_exceeded', HINT = '${longSeriesHint}';
  END IF;
END $function$`,
  )

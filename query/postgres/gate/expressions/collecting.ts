/**
 * Aggregates that keep every value they are given. Neither work_mem nor temp_file_limit bounds
 * them, so a statement has few of them, and what they take together is counted while they take it:
 * by a function of ours in their FILTER, which raises an error at the bound.
 */

import { type NodeFields, nameParts, nodeList, ownName, sqlRefusal, type Walk } from '../../parse/walk.ts'

/** Statements of analysts have one or two. */
const COLLECTORS_MAX = 8

/**
 * Bytes that all collectors of a statement take. They keep up to three times as much of small
 * values of JSON.
 */
export const COLLECTED_BYTES_MAX = 128 * 1024 * 1024

/** The cost of keeping a value, beside its bytes. */
const VALUE_OVERHEAD_BYTES = 32

export const collectors: ReadonlySet<string> = new Set([
  'array_agg',
  'jsonb_agg',
  'jsonb_object_agg',
  'string_agg',
])

const counterName = 'count_collected'

/**
 * Counts what it is given until the transaction ends. It runs as its owner, for the reader may
 * change no setting, not even this one.
 */
const countCollectedSql = `CREATE FUNCTION {schema}.${counterName}(value bytea) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $function$
DECLARE
  taken bigint := coalesce(nullif(pg_catalog.current_setting('millrace.collected', true), ''), '0')::bigint
    OPERATOR(pg_catalog.+) pg_catalog.octet_length(value) OPERATOR(pg_catalog.+) ${VALUE_OVERHEAD_BYTES};
BEGIN
  IF taken OPERATOR(pg_catalog.>) ${COLLECTED_BYTES_MAX} THEN
    RAISE EXCEPTION 'the values that aggregates collect are larger than ${COLLECTED_BYTES_MAX} bytes'
      USING ERRCODE = 'program_limit_exceeded', HINT = 'collect from fewer rows';
  END IF;
  PERFORM pg_catalog.set_config('millrace.collected', taken::text, true);
  RETURN true;
END $function$`

/** The statement that makes the function beside the views. `schema` is quoted. */
export const countCollectedStatement = (schema: string): string =>
  countCollectedSql.replaceAll('{schema}', schema)

/** The place to check the inputs of a collector in. @throws UserQueryError `sql_refused` */
export function enterCollector(name: string, walk: Walk): Walk {
  if (walk.isCollecting)
    throw sqlRefusal(walk, `${name} within a collecting aggregate is not allowed`, 'collect in a CTE first')
  if (++walk.findings.collectorCount > COLLECTORS_MAX)
    throw sqlRefusal(walk, `more than ${COLLECTORS_MAX} collecting aggregates`)
  return { ...walk, isCollecting: true }
}

/**
 * The fields of a rebuilt call, with its inputs counted. Where it has a FILTER, only what that lets
 * through counts.
 */
export function countedCall(call: NodeFields, walk: Walk): NodeFields {
  const counted = countOf(nodeList(call['args']), walk)
  const filter = call['agg_filter']
  return { ...call, agg_filter: filter === undefined ? counted : onlyWhere(filter, counted) }
}

/** `ARRAY(subselect)` as an array of the same rows, counted. */
export function countedSelect(subselect: unknown, walk: Walk): NodeFields {
  const row = { ColumnRef: { fields: [{ String: { sval: collected } }, { A_Star: {} }] } }
  return {
    SelectStmt: {
      targetList: [{ ResTarget: { val: row } }],
      fromClause: [{ RangeSubselect: { subquery: subselect, alias: { aliasname: collected } } }],
      whereClause: countOf([row], walk),
      limitOption: 'LIMIT_OPTION_DEFAULT',
      op: 'SETOP_NONE',
    },
  }
}

const collected = 'collected'

const onlyWhere = (filter: unknown, counted: NodeFields): NodeFields => ({
  CaseExpr: {
    args: [{ CaseWhen: { expr: filter, result: counted } }],
    defresult: { A_Const: { boolval: {} } },
  },
})

/** The length of the values as the server would send them: stored ones may be compressed. */
function countOf(values: readonly unknown[], walk: Walk): NodeFields {
  const row = { RowExpr: { args: values, row_format: 'COERCE_EXPLICIT_CALL' } }
  return call(ownName(counterName, walk), call(nameParts('pg_catalog', 'record_send'), row))
}

const call = (funcname: readonly NodeFields[], argument: NodeFields): NodeFields => ({
  FuncCall: {
    funcname,
    args: [argument],
    funcformat: 'COERCE_EXPLICIT_CALL',
  },
})

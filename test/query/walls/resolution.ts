/** Postgres' reading of queries that passed the gate: the functions its own parse trees call. */

import { operators } from '#query/postgres/gate/expressions/functions.ts'
import { gatePostgres } from '#query/postgres/gate/gate.ts'
import { parseStatements } from '#query/postgres/parse/parse.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { catalogOf } from '../support/catalogs.ts'
import type { ExampleChain } from '../support/exampleChain.ts'
import { randomNames } from './randomNames.ts'

export interface Resolution {
  /** Statements that passed the gate. */
  readonly passed: number
  /** Those of them that Postgres takes too. */
  readonly resolved: number
  /** Statements that call what their text does not call. */
  readonly escaped: readonly string[]
}

/** Statements looked at in one round trip. */
const batchLength = 500

/** @param count statements that have to pass the gate, of seeds from `seed` on */
export async function resolveRandomNames(
  chain: ExampleChain,
  seed: number,
  count: number,
): Promise<Resolution> {
  await chain.postgres.pool.query(functionsSql)
  const catalog = catalogOf('postgres', `chain_${chain.chainId}_sql`)
  let [passed, resolved] = [0, 0]
  const escaped: string[] = []
  for (let next = seed; passed < count; ) {
    const batch: string[] = []
    for (; batch.length < Math.min(batchLength, count - passed); next++) {
      const sql = printed(randomNames(next))
      if (sql !== undefined) batch.push(sql)
    }
    const calls = await calledIn(chain, batch)
    passed += batch.length
    for (const [index, names] of calls.entries()) {
      const sql = batch[index] ?? ''
      if (names === null) continue
      resolved++
      const known = new Set(namesOf(parseStatements(sql)))
      if (names.some((name) => !known.has(name))) escaped.push(`${names.join(' ')}: ${sql}`)
    }
  }
  return { passed, resolved, escaped }

  function printed(sql: string): string | undefined {
    try {
      return gatePostgres(sql, catalog, 11).sql
    } catch (error) {
      if (error instanceof UserQueryError) return undefined
      throw error
    }
  }
}

/** Names of the functions each statement calls, null where Postgres refuses it. */
async function calledIn(
  { postgres }: ExampleChain,
  statements: readonly string[],
): Promise<readonly (readonly string[] | null)[]> {
  const { rows } = await postgres.pool.query('SELECT called_in($1, $2) AS called', [
    statements,
    [...operators],
  ])
  const called: unknown = rows[0]?.called
  return (Array.isArray(called) ? called : []).map((names) => (names === null ? null : names.map(String)))
}

/** Names of all calls in a text. */
function* namesOf(tree: unknown): Generator<string> {
  if (typeof tree !== 'object' || tree === null) return
  for (const [key, value] of Object.entries(tree)) {
    if (key === 'funcname' && Array.isArray(value)) yield String(value.at(-1)?.String?.sval)
    yield* namesOf(value)
  }
}

/**
 * A view of each statement is made and its tree read: a function there is called by an operator of
 * the list, by a cast, or is told by name. Operators outside of the list are told too.
 */
const functionsSql = `CREATE OR REPLACE FUNCTION called_in(statements text[], operators text[]) RETURNS jsonb
LANGUAGE plpgsql AS $function$
DECLARE
  result jsonb := '[]';
  names jsonb;
  statement text;
BEGIN
  CREATE TEMP TABLE IF NOT EXISTS callable (oid text PRIMARY KEY, name text);
  IF NOT EXISTS (SELECT FROM callable) THEN
    INSERT INTO callable
    SELECT oid::text, proname FROM pg_proc
    WHERE oid NOT IN (SELECT oprcode FROM pg_operator WHERE oprname = ANY (operators) UNION SELECT castfunc FROM pg_cast)
    UNION ALL
    SELECT oid::text, oprname FROM pg_operator WHERE NOT oprname = ANY (operators)
      AND oid NOT IN (SELECT oid FROM pg_proc);
    ANALYZE callable;
  END IF;
  FOREACH statement IN ARRAY statements LOOP
    BEGIN
      EXECUTE 'CREATE TEMP VIEW looked_at AS SELECT 1 AS one FROM (' || statement || ') AS q';
      SELECT coalesce(jsonb_agg(DISTINCT c.name), '[]') INTO names
      FROM pg_rewrite r,
        regexp_matches(r.ev_action::text, ':(?:funcid|aggfnoid|winfnoid|opno|opfuncid) (\\d+)', 'g') AS m(found)
        JOIN callable c ON c.oid = m.found[1]
      WHERE r.ev_class = 'pg_temp.looked_at'::regclass;
      RAISE EXCEPTION USING ERRCODE = 'ZZ001';
    EXCEPTION
      WHEN SQLSTATE 'ZZ001' THEN NULL;
      WHEN OTHERS THEN names := 'null';
    END;
    result := result || jsonb_build_array(names);
  END LOOP;
  RETURN result;
END $function$`

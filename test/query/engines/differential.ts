/**
 * Runs random queries on both engines and tells what is not the same; a refusal by either engine is
 * an answer too.
 */
import type { QueryResult, SqlValue, UserQueryEngine } from '#query/result.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { randomQuery } from './randomQuery.ts'

export interface Differences {
  /** Queries both engines answered, with equal columns, types and rows. */
  equal: number
  /** Queries one engine or both refused in words of ours. */
  refused: number
  readonly found: string[]
}

export async function compareEngines(
  engines: readonly [UserQueryEngine, UserQueryEngine],
  chainId: number,
  seeds: Iterable<number>,
): Promise<Differences> {
  const differences: Differences = { equal: 0, refused: 0, found: [] }
  for (const seed of seeds) {
    const sql = randomQuery(seed)
    const [one, two] = await Promise.all(engines.map((engine) => answerOf(engine, chainId, sql)))
    const problem = one && two && problemOf(one, two)
    if (problem) differences.found.push(`seed ${seed}: ${problem}\n  ${sql}`)
    else if (one instanceof UserQueryError || two instanceof UserQueryError) differences.refused++
    else differences.equal++
  }
  return differences
}

async function answerOf(
  engine: UserQueryEngine,
  chainId: number,
  sql: string,
): Promise<QueryResult | UserQueryError> {
  try {
    return await engine.run({ chainId, sql, limit: 1_000, timeoutMs: 20_000 })
  } catch (error) {
    if (error instanceof UserQueryError) return error
    throw error
  }
}

const isToldWhy = ({ status, message }: UserQueryError): boolean =>
  status === 422 && message !== 'the query failed'

function problemOf(one: QueryResult | UserQueryError, two: QueryResult | UserQueryError): string | undefined {
  for (const answer of [one, two])
    if (answer instanceof UserQueryError && !isToldWhy(answer))
      return `${answer.code}: ${String(answer.cause ?? answer)}`
  if (one instanceof UserQueryError || two instanceof UserQueryError) return undefined
  if (`${one.columns}` !== `${two.columns}`) return `columns ${one.columns} and ${two.columns}`
  if (`${one.columnTypes}` !== `${two.columnTypes}`) return `types ${one.columnTypes} and ${two.columnTypes}`
  if (one.rows.length !== two.rows.length) return `${one.rows.length} rows and ${two.rows.length}`
  const row = one.rows.findIndex(
    (values, index) => !values.every((value, column) => isSame(value, two.rows[index]?.[column])),
  )
  return row < 0
    ? undefined
    : `row ${row}: ${JSON.stringify(one.rows[row])} and ${JSON.stringify(two.rows[row])}`
}

function isSame(one: SqlValue, two: SqlValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(two)
}

/** The functions a user query may call, in the engine's own spelling. */
import { functionRules as clickhouse } from './clickhouse/functions.ts'
import { functionRules as postgres } from './postgres/functions.ts'
import type { Engine } from './result.ts'

/** Sorted, without what is an operator in other clothes. */
export function functionNamesOf(engine: Engine): string[] {
  if (engine === 'postgres') return [...postgres.keys()].sort()
  // Some are known by the names other engines give them; those stand for themselves.
  const names = [...clickhouse].map(([key, { name }]) => (name.toLowerCase() === key ? name : key))
  return [...new Set(names)].sort()
}

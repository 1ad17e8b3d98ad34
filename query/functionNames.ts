/** The functions a user query may call, in the engine's own spelling. */
import type { Engine } from '#primitives.ts'
import { functionNames as clickhouse } from './clickhouse/compile/calls/functions.ts'
import { functionRules as postgres } from './postgres/gate/expressions/functions.ts'

/** Sorted, without what is an operator in other clothes. */
export function functionNamesOf(engine: Engine): string[] {
  if (engine === 'postgres') return [...postgres.keys()].sort()
  return [...new Set(clickhouse.filter((name) => /^[a-z]/i.test(name)))].sort()
}

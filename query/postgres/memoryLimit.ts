/**
 * How much memory one process of the server may take: what growth.ts bounds are the values of one
 * row of one SELECT, with columns of usual lengths; beyond them the server's own limit stands.
 */
import { exportSlots, postgresSlots } from '../slotLimits.ts'
import type { Administrator } from './setup/roles.ts'

const GIB = 1024 ** 3
/** The memory that one process may take without a word: the embedded server's limit, and as much again. */
const TOLD_ABOVE_BYTES = 2 * GIB
/** Statements of strangers that run at once. */
const AT_ONCE = postgresSlots.running + exportSlots.running

/** Bytes; Infinity without a limit, null where the server does not tell. */
export async function readMemoryLimit(administrator: Administrator): Promise<number | null> {
  try {
    // As the process that is asked has it: each inherits it from the first.
    const { rows } = await administrator.query(
      "SELECT pg_catalog.pg_read_file('/proc/self/limits') AS limits",
    )
    return memoryLimitIn(String(rows[0]?.['limits']))
  } catch {
    // Only a superuser may read it, and only Linux has it.
    return null
  }
}

/** The smaller of the soft limits of data and address space, in the form of /proc/self/limits. */
export function memoryLimitIn(limits: string): number | null {
  const told = ['data size', 'address space'].flatMap((name) => {
    const value = new RegExp(`^Max ${name} +(\\d+|unlimited) `, 'm').exec(limits)?.[1]
    return value === undefined ? [] : [value === 'unlimited' ? Infinity : Number(value)]
  })
  return told.length === 0 ? null : Math.min(...told)
}

/** A note on it for the operator; null if it is bounded. */
export function memoryNote(limit: number | null): string | null {
  if (limit !== null && limit <= TOLD_ABOVE_BYTES) return null
  const state =
    limit === null
      ? 'does not tell whether its processes have a limit of memory'
      : limit === Infinity
        ? 'sets its processes no limit of memory'
        : `lets each of its processes take ${Math.round(limit / GIB)} GiB of memory`
  return `DATABASE_URL: the server ${state}, and ${AT_ONCE} queries of strangers may run at once: give it LimitDATA=1G (docs/sql.md, Memory of a Postgres of your own)`
}

/** Quotas of a running program, in rows that all its processes share. */
import { Quotas } from '#api/access/Quotas.ts'
import { removePastDebts } from '#rows/access/exportDebts.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import { removePastSessions } from '#rows/access/sessions.ts'
import { removePastUsage } from '#rows/access/usage.ts'
import { appDatabase } from '#rows/database.ts'
import { removeIdleFilters } from '#rows/rpcFilters.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Engines } from '../../engines.ts'

/**
 * Everything that is over goes with them: windows, exports' time, sessions, accounts of requests, filters.
 */
export function openQuotas({ postgres }: Pick<Engines, 'postgres'>, clock: Clock): Quotas {
  const app = appDatabase(postgres)
  const rows = quotaRows(app)
  const removePast = async () =>
    (await rows.removePast()) ||
    (await removePastDebts(app)) ||
    (await removePastSessions(app)) ||
    (await removePastUsage(app)) ||
    removeIdleFilters(app)
  return new Quotas({ ...rows, removePast }, clock)
}

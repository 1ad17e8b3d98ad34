/** Access as a guarded program has it, whose quotas are rows that several of them share. */
import { allowanceOf } from '#api/access/allowance.ts'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import type { AccessSettings } from '#api/access/settings.ts'
import { SELLER_CALLS_PER_MINUTE } from '#orchestrator/allowance.ts'
import { quotaRows } from '#rows/access/quotas.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { guarded } from '../../api/support/guarded.ts'

const { clock } = systemRuntime()

/** Quotas as one process counts them. */
export function countedOn(app: AppDatabase, settings: AccessSettings = guarded) {
  const quotas = new Quotas(quotaRows(app), clock)
  const access = new ServiceAccess({
    settings,
    credentials: { findKey: async () => null, findSession: async () => null, digestOf: (token) => token },
    quotas,
    defaults: { orgId: 'org', projectId: 'project', userId: 'user' },
    clock,
  })
  return { access, quotas, sellerCalls: allowanceOf(quotas, 'sellers', SELLER_CALLS_PER_MINUTE) }
}

/**
 * The answers of `ask` within one minute of the database's clock, each time for another caller; the minute
 * is told by `resets`.
 */
export async function withinOneMinute<T>(
  ask: (caller: string) => Promise<T>,
  resets: (given: T) => readonly unknown[],
): Promise<T> {
  for (let turn = 1; ; turn++) {
    const given = await ask(`192.0.2.${turn}`)
    if (new Set(resets(given)).size <= 1) return given
  }
}

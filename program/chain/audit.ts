/**
 * Reads what was written again from the node. Only the process that writes does: it has the node's
 * attention already.
 */
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { Audit } from '#store/compare/Audit.ts'
import { poolAudit } from '#store/follow/feePools/auditPools.ts'
import type { Writing } from './writing.ts'

/** Blocks the head lane may be behind before the audit leaves node and cores to it. */
const LAG_BLOCKS_MAX = 20

/** Null where the operator wants none. @param fence under which this process writes */
export function auditOf(
  { options, otherSource, pool, state, activity }: Writing,
  fence: bigint,
): Audit | null {
  const { postgres, clickhouse, auditPercentPerDay, callContracts: call, kind, runtime, log } = options
  const { chainId, schema } = state
  if (auditPercentPerDay === undefined) return null
  return new Audit({
    chainId,
    source: otherSource,
    decode: (raw) => pool.decode(raw, undefined, everySender),
    postgres,
    clickhouse,
    schema,
    database: databaseOf(chainId),
    coverage: (store) => state.coverage(store),
    finalized: () => state.finalized,
    busy: () => {
      if (activity.head.state !== 'running' || state.head - state.tip > LAG_BLOCKS_MAX) return 'head'
      return activity.history.state === 'filling' ? 'history' : null
    },
    historyPercentPerDay: auditPercentPerDay,
    compareState: kind === 'tempo' ? poolAudit({ call, postgres, schema, fence }) : undefined,
    clock: runtime.clock,
    log,
  })
}

/**
 * Leases and the opening of the chain over the simulated Postgres: which process may write, and
 * from where (rows/leases.ts, ledger.ts).
 */

import { type BlockRange, blockCount, difference } from '#ingest/range.ts'
import { FencedOutError, type LeaseStore } from '#runtime/lease.ts'
import { SCHEMA, type SimLedger } from './simLedger.ts'

/** Takes the chain over: from now on only this fence may write (openChain). */
export function openLedger(ledger: SimLedger, headFrom: number, fence: bigint): Promise<void> {
  return ledger.transaction('open chain', () => {
    const state = ledger.state
    state.lane ??= {
      fromBlock: headFrom,
      tip: headFrom - 1,
      tipHash: null,
      finalized: headFrom - 1,
      fence: 0n,
      withdrawals: 0,
    }
    if (fence < state.lane.fence) throw new FencedOutError(SCHEMA, fence)
    if (!ledger.bugs.planted('a new writer does not claim the lane') || state.lane.fence === 0n)
      state.lane.fence = fence
  })
}

/** Blocks of history that are wanted and not held. */
export function missingHistory(ledger: SimLedger, startBlock: number): Promise<BlockRange | null> {
  return ledger.read('missing history', () => {
    const from = ledger.bugs.planted('block zero is skipped') ? startBlock || 1 : startBlock
    const target = { from, to: (ledger.state.lane?.fromBlock ?? startBlock) - 1 }
    if (blockCount(target) <= 0) return null
    const [lowest] = ledger.state.postgresCoverage
    if (lowest?.from === from && ledger.bugs.planted('a gap above held history is forgotten')) return null
    return difference([target], ledger.state.postgresCoverage).length > 0 ? target : null
  })
}

export function leasesOf(ledger: SimLedger): LeaseStore {
  const nowMs = () => ledger.kernel.nowMs
  return {
    acquire: (_name, holder, ttlMs) =>
      ledger.transaction('acquire lease', () => {
        const { lease } = ledger.state
        if (lease && lease.expiresAtMs >= nowMs() && lease.holder !== holder)
          return { granted: false, holder: lease.holder, expiresInMs: lease.expiresAtMs - nowMs() } as const
        const fence = (lease?.fence ?? 0n) + 1n
        ledger.state.lease = { holder, fence, expiresAtMs: nowMs() + ttlMs }
        return { granted: true, fence } as const
      }),
    renew: (_name, fence, ttlMs) =>
      ledger.transaction('renew lease', () => {
        const { lease } = ledger.state
        if (lease?.fence !== fence) return false
        ledger.state.lease = { ...lease, expiresAtMs: nowMs() + ttlMs }
        return true
      }),
    release: (_name, fence) =>
      ledger.transaction('release lease', () => {
        const { lease } = ledger.state
        if (lease?.fence === fence) ledger.state.lease = { ...lease, expiresAtMs: nowMs() }
      }),
  }
}

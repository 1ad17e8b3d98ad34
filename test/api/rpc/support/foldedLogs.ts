/** Logs as filters tell them, folded to those that are left. */
import { expect } from 'vitest'

export interface Log {
  readonly blockNumber: string
  readonly blockHash: string
  readonly logIndex: string
  readonly removed: boolean
}

export const keyOf = (log: Log) => `${log.blockHash} ${Number(log.blockNumber)} ${Number(log.logIndex)}`

/** Folds told logs: none twice, and only what was told is taken back. */
export const fold = (seen: Map<string, Log>, told: readonly Log[]) => {
  for (const log of told) {
    expect(seen.has(keyOf(log))).toBe(log.removed)
    if (log.removed) seen.delete(keyOf(log))
    else seen.set(keyOf(log), log)
  }
}

export const sorted = (logs: Iterable<Log>) => [...logs].map(keyOf).sort()

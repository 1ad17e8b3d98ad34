/** Work that one process at a time does, again and again, whenever its lease is ours. */
import { messageOf } from '#errors.ts'
import { postgresLeases } from '#rows/leases.ts'
import { visitListed } from '#runtime/failpoints.ts'
import { type LeaseHolder, type LeaseStore, waitForLease } from '#runtime/lease.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'

export interface LeasedOptions {
  readonly postgres: Postgres
  readonly name: string
  /** This program, to others on the same database. */
  readonly holder: LeaseHolder
  readonly runtime: Runtime
  readonly log: Logger
  /** Told why the work is done by nobody, for now; null once it is ours or another process's. */
  readonly told?: (problem: string | null) => void
}

/** Another process takes the work over at most so long after a kill. */
const LEASE_MS = 15_000
const RETRY_MS = 1_000

/** Resolves when aborted. What the work throws is told, and it is tried again. */
export async function whileLeased(
  options: LeasedOptions,
  signal: AbortSignal,
  work: (fence: bigint, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = (error: unknown) => {
    options.told?.(messageOf(error))
    return RETRY_MS
  }
  await repeat({ clock: options.runtime.clock, signal, failed }, async () => {
    await once(options, signal, work)
    return 0
  })
}

async function once(
  { postgres, name, holder, runtime, log, told }: LeasedOptions,
  signal: AbortSignal,
  work: (fence: bigint, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failpoint = visitListed(runtime.failpoint)
  const leases = postgresLeases(postgres)
  const store: LeaseStore = {
    ...leases,
    acquire: async (...asked) => {
      const grant = await leases.acquire(...asked)
      told?.(null)
      return grant
    },
  }
  const lease = await waitForLease({ store, name, holder, ttlMs: LEASE_MS, runtime, log, failpoint }, signal)
  try {
    await work(lease.fence, AbortSignal.any([signal, lease.lost]))
  } finally {
    await lease.release().catch(() => {})
  }
}

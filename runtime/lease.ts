import { failure } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { problemOf } from './backoff.ts'
import type { VisitFailpoint } from './failpoints.ts'
import { repeat } from './repeat.ts'
import type { Runtime } from './runtime.ts'

/**
 * The store of leases. The store's clock decides when one has expired; every grant has a larger fence than
 * any before it, and each commit checks the fence in its own transaction, so that a holder who lost the
 * lease commits nothing.
 */
export interface LeaseStore {
  /**
   * Takes the lease when it is free, expired, or already ours (same holder), with a new fence; also
   * when it is still held by `ended`, which is known to write no more.
   */
  acquire(name: string, holder: string, ttlMs: number, ended?: string): Promise<LeaseGrant>
  /** False when someone else has taken it since. */
  renew(name: string, fence: bigint, ttlMs: number): Promise<boolean>
  /** Does nothing when the fence is not the newest. */
  release(name: string, fence: bigint): Promise<void>
}

/** Looks at leases without taking them. */
export interface LeaseWatch {
  /** Null when it is free or expired. */
  find(name: string): Promise<HeldLease | null>
}

export interface HeldLease {
  readonly holder: string
  readonly expiresInMs: number
}

export type LeaseGrant =
  | { readonly granted: true; readonly fence: bigint }
  | ({ readonly granted: false } & HeldLease)

/** One process, to others that want the same lease. */
export interface LeaseHolder {
  /** Stored with the lease, and told to people. No other process has it. */
  readonly name: string
  /** Whether `other` was a process of this machine that has ended, and so renews nothing. */
  hasEnded(other: string): boolean
  /** An error where a living `other` is an operator's mistake; null where it may well be there. */
  conflictWith(other: string): Error | null
}

/** The right to write one lane, renewed until released or lost. */
export interface Lease {
  readonly fence: bigint
  /** Aborted when the lease is lost, with the FencedOutError as its reason. */
  readonly lost: AbortSignal
  /** Checked on the monotonic clock right before anything is sent. @throws FencedOutError */
  assertHeld(): void
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly store: LeaseStore
  /** The thing leased, such as `chain_4217/head`. */
  readonly name: string
  readonly holder: LeaseHolder
  readonly ttlMs: number
  readonly runtime: Runtime
  readonly log: Logger
  readonly failpoint: VisitFailpoint
  /** Told when the lease is ours after another process had it. */
  readonly tookOver?: () => void
  /** Told once when a living process holds the lease that should not be there. */
  readonly conflict?: (problem: string) => void
}

/** Renewals per lifetime: two may fail before the lease runs out. */
const RENEWALS_PER_TTL = 3

/**
 * We count the lifetime from before the request was sent and give up this share earlier, so that
 * clocks that drift apart and an answer that travelled slowly never make two holders.
 */
const SAFETY_SHARE = 0.1

/** Takes the lease once. @throws LeaseHeldError when another process has it. */
export async function acquireLease(options: LeaseOptions): Promise<Lease> {
  const { store, name, holder, ttlMs, runtime, failpoint } = options
  const askedAtMs = runtime.clock.monotonic()
  let grant = await store.acquire(name, holder.name, ttlMs)
  if (!grant.granted && holder.hasEnded(grant.holder))
    grant = await store.acquire(name, holder.name, ttlMs, grant.holder)
  if (!grant.granted) throw new LeaseHeldError(name, grant.holder, grant.expiresInMs)
  failpoint('lease.acquired')
  return new RenewedLease(options, grant.fence, askedAtMs)
}

/** Stands by until the lease is ours. Rejects with the signal's reason when aborted. */
export async function waitForLease(options: LeaseOptions, signal: AbortSignal): Promise<Lease> {
  const { runtime, ttlMs, log, name } = options
  const watch = new HolderWatch(options)
  for (let told = false; ; ) {
    signal.throwIfAborted()
    try {
      const lease = await acquireLease(options)
      if (told) options.tookOver?.()
      return lease
    } catch (error) {
      if (!(error instanceof LeaseHeldError)) throw error
      if (!told) log.info({ name, holder: error.holder }, 'standing by: another process holds the lease')
      told = true
      watch.saw(error)
      const waitMs = Math.min(ttlMs / RENEWALS_PER_TTL, Math.max(error.expiresInMs, 10))
      await runtime.clock.sleep(waitMs, signal)
    }
  }
}

/** Tells whether who holds a lease that we wait for lives, and should not. */
class HolderWatch {
  readonly #options: LeaseOptions
  #holder: string | null = null
  #endsAtMs = 0
  #told = false

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** A lease that was not renewed would have run out by the time it had when it was first seen. */
  saw({ holder, expiresInMs }: LeaseHeldError): void {
    const nowMs = this.#options.runtime.clock.monotonic()
    if (holder !== this.#holder) {
      this.#holder = holder
      this.#endsAtMs = nowMs + expiresInMs
      this.#told = false
    } else if (nowMs > this.#endsAtMs && !this.#told) this.#tell(holder)
  }

  #tell(holder: string): void {
    const { holder: own, log, name, conflict } = this.#options
    this.#told = true
    const problem = own.conflictWith(holder)
    if (problem === null) return
    log.error({ name, holder }, problem.message)
    conflict?.(problem.message)
  }
}

class RenewedLease implements Lease {
  readonly fence: bigint
  readonly #options: LeaseOptions
  readonly #lost = new AbortController()
  readonly #stopped = new AbortController()
  #heldUntilMs: number

  constructor(options: LeaseOptions, fence: bigint, askedAtMs: number) {
    this.fence = fence
    this.#options = options
    this.#heldUntilMs = askedAtMs + options.ttlMs * (1 - SAFETY_SHARE)
    void this.#renewUntilStopped()
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  assertHeld(): void {
    const { runtime, name } = this.#options
    if (runtime.clock.monotonic() >= this.#heldUntilMs) this.#lose(new FencedOutError(name, this.fence))
    this.#lost.signal.throwIfAborted()
  }

  async release(): Promise<void> {
    const { store, name } = this.#options
    this.#stopped.abort()
    if (this.#lost.signal.aborted) return
    this.#lose(new FencedOutError(name, this.fence))
    await store.release(name, this.fence)
  }

  async #renewUntilStopped(): Promise<void> {
    const { runtime, ttlMs } = this.#options
    const signal = AbortSignal.any([this.#stopped.signal, this.#lost.signal])
    const pauseMs = ttlMs / RENEWALS_PER_TTL
    await repeat({ clock: runtime.clock, signal, firstMs: pauseMs }, async () => {
      await this.#renew()
      return pauseMs
    })
  }

  async #renew(): Promise<void> {
    const { store, name, ttlMs, runtime, log, failpoint } = this.#options
    const askedAtMs = runtime.clock.monotonic()
    try {
      if (await store.renew(name, this.fence, ttlMs)) {
        this.#heldUntilMs = askedAtMs + ttlMs * (1 - SAFETY_SHARE)
        failpoint('lease.renewed')
      } else this.#lose(new FencedOutError(name, this.fence))
    } catch (error) {
      // Not lost yet: the next renewal may get through before the lifetime ends.
      log.warn({ name, ...problemOf(error) }, 'a lease could not be renewed')
      if (runtime.clock.monotonic() >= this.#heldUntilMs) this.#lose(new FencedOutError(name, this.fence))
    }
  }

  #lose(error: FencedOutError): void {
    if (!this.#lost.signal.aborted) this.#lost.abort(error)
  }
}

/** Another process holds the lease. */
export class LeaseHeldError extends failure('LeaseHeldError', 'lease_held', 'retry') {
  readonly lease: string
  readonly holder: string
  readonly expiresInMs: number

  constructor(lease: string, holder: string, expiresInMs: number) {
    super(`${lease} is written by ${holder}`)
    this.lease = lease
    this.holder = holder
    this.expiresInMs = expiresInMs
  }
}

/** We no longer hold the lease; whatever we still had in hand must not be written. */
export class FencedOutError extends failure('FencedOutError', 'fenced_out', 'stop') {
  readonly lease: string
  readonly fence: bigint

  constructor(lease: string, fence: bigint) {
    super(`the lease ${lease} with fence ${fence} is no longer held`)
    this.lease = lease
    this.fence = fence
  }
}

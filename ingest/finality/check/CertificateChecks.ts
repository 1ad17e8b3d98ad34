/**
 * Checks certificates in a thread of its own: one takes some 35 ms of CPU, in which nothing else of
 * the program would be served, and the arithmetic of the curve 12 MB. The thread ends when nobody
 * asks.
 */
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { failure, messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { CertificateRefusedError } from '../certificate/CertificateRefusedError.ts'
import type { Certificate } from '../certificate/certificate.ts'
import type { EpochKeys } from '../keys/epochKeys.ts'
import type { KeyChange } from '../keys/followKey.ts'
import { KeyRefusedError } from '../keys/KeyRefusedError.ts'
import type { CertifiedHeader } from './assertFinalized.ts'
import type { CheckResult, CheckTask, FollowResult, FollowTask } from './check.worker.ts'

/** Waiting for the thread: each chain has one check under way, so only a leak gets here. */
const QUEUED_MAX = 64
/** Milliseconds after which a thread without work ends: longer than between two looks at a chain. */
const IDLE_MS = 120_000

export class CertificateChecks {
  readonly #pool: Piscina<CheckTask | FollowTask, unknown>

  constructor(log: Logger) {
    this.#pool = new Piscina<CheckTask | FollowTask, unknown>({
      filename: fileURLToPath(new URL('./check.worker.ts', import.meta.url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      maxQueue: QUEUED_MAX,
    })
    // One that dies while idle has no task to reject; without a listener its error would end the process.
    this.#pool.on('error', (error: unknown) => log.error({ problem: messageOf(error) }, 'a thread died'))
  }

  /**
   * As `assertFinalized`.
   * @throws CertificateRefusedError; CheckLostError when the thread died, another takes its place;
   * the signal's reason when aborted
   */
  async check(
    bytes: Uint8Array,
    { number, hash }: CertifiedHeader,
    keys: EpochKeys,
    signal?: AbortSignal,
  ): Promise<Certificate> {
    signal?.throwIfAborted()
    const task: CheckTask = { bytes, header: { number, hash }, keys }
    const result = await this.#run<CheckResult>('check', task, signal)
    if (!result.ok) throw new CertificateRefusedError(result.part, result.detail)
    return result.certificate
  }

  /** As `followKey`. @throws KeyRefusedError; CheckLostError and the signal's reason as `check` does */
  async follow(keys: EpochKeys, change: KeyChange, signal?: AbortSignal): Promise<EpochKeys> {
    signal?.throwIfAborted()
    const task: FollowTask = { keys, change }
    const result = await this.#run<FollowResult>('follow', task, signal)
    if (!result.ok) throw new KeyRefusedError(result.reason, result.epoch)
    return result.keys
  }

  /** Rejects what is still under way. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }

  /** The result of the worker's function of this name. */
  async #run<Result>(
    name: 'check' | 'follow',
    task: CheckTask | FollowTask,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    try {
      return (await this.#pool.run(task, { name, signal: signal ?? null })) as Result
    } catch (cause) {
      signal?.throwIfAborted()
      throw new CheckLostError('the thread that checks a certificate is lost', { cause })
    }
  }
}

/** A thread died while it checked, or was closed under it: the certificate may be right. */
export class CheckLostError extends failure('CheckLostError', 'certificate_check_lost', 'retry') {}

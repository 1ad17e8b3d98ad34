/**
 * Keeps one engine process running: retries its start, starts it again when it dies, ends it for
 * good.
 */

import { statfsSync } from 'node:fs'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type EngineName, EngineStartError } from './errors.ts'
import type { ProcessIdentity } from './processIdentity.ts'

/** A running engine process. */
export interface EngineProcess {
  readonly identity: ProcessIdentity
  /** Settles with how it ended. */
  readonly exited: Promise<string>
}

export interface SupervisorOptions {
  readonly engine: EngineName
  readonly dataDir: string
  /** The folder of the engine's own files; may be on a disk of its own. */
  readonly folder: string
  readonly log: Logger
  readonly clock: Clock
  /** Starts the process and waits until it answers. @throws EngineStartError */
  readonly launch: () => Promise<EngineProcess>
  /** Ends the process and waits until it is gone. */
  readonly end: (identity: ProcessIdentity) => Promise<void>
}

// A start fails for passing reasons (shared memory of killed backends, a port taken by another, the
// lock of a child that is still closing) that last up to some seconds.
const LAUNCH_ATTEMPTS_MAX = 8
const LAUNCH_PAUSE_MS = 250
// An engine that dies this soon after its start, this often in a row, will not be cured by another
// start.
const EARLY_DEATH_MS = 30_000
const EARLY_DEATHS_MAX = 10

/** Two segments of Postgres's log: with less, it starts and panics at the next one. */
const FREE_BYTES_MIN = 32 * 1024 * 1024
const FULL_PAUSE_MS = 1_000

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #lost = Promise.withResolvers<EngineStartError>()
  #process: EngineProcess | undefined
  #restarting: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #earlyDeaths = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** The process running now; 0 when none is. */
  get pid(): number {
    return this.#process?.identity.pid ?? 0
  }

  /** Settles when the engine died and could not be started again. Never rejects. */
  get lost(): Promise<EngineStartError> {
    return this.#lost.promise
  }

  /** Starts the engine, or watches over one that runs already. @throws EngineStartError */
  async start(adopted?: EngineProcess): Promise<void> {
    this.#watch(adopted ?? (await this.#launch()))
  }

  /** Ends the engine for good. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end()
    return this.#stopping
  }

  async #end(): Promise<void> {
    await this.#restarting
    if (this.#process !== undefined) await this.#options.end(this.#process.identity)
    this.#process = undefined
  }

  async #launch(): Promise<EngineProcess> {
    const { log, clock, engine } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      await this.#waitForSpace()
      try {
        return await this.#options.launch()
      } catch (error) {
        if (attempt === LAUNCH_ATTEMPTS_MAX || this.#stopping !== undefined) throw error
        log.debug({ engine, attempt }, 'The engine did not start; trying again.')
        await clock.sleep(LAUNCH_PAUSE_MS * attempt)
      }
    }
  }

  /** An engine that ran already waits for room; one that never did is better told about at once. */
  async #waitForSpace(): Promise<void> {
    const { log, clock, engine, folder } = this.#options
    if (this.#process === undefined || !isFull(folder)) return
    log.error({ engine }, 'The disk is full; the engine is started when there is space.')
    while (isFull(folder) && this.#stopping === undefined) await clock.sleep(FULL_PAUSE_MS)
  }

  #watch(process: EngineProcess): void {
    this.#process = process
    const startedAt = this.#options.clock.monotonic()
    void process.exited.then((status) => {
      if (this.#stopping !== undefined) return
      const livedMs = this.#options.clock.monotonic() - startedAt
      this.#earlyDeaths = livedMs < EARLY_DEATH_MS ? this.#earlyDeaths + 1 : 0
      this.#restarting = this.#restart(status)
    })
  }

  async #restart(status: string): Promise<void> {
    const { engine, dataDir, log, clock } = this.#options
    log.warn({ engine, status }, 'The engine ended by itself; starting it again.')
    // A full disk ends it again and again, and passes: that says nothing about the engine.
    if (isFull(this.#options.folder)) this.#earlyDeaths = 0
    try {
      if (this.#earlyDeaths > EARLY_DEATHS_MAX) {
        throw new EngineStartError(
          engine,
          dataDir,
          `it ended ${this.#earlyDeaths} times soon after its start.`,
        )
      }
      if (this.#earlyDeaths > 1) await clock.sleep(LAUNCH_PAUSE_MS * 2 ** this.#earlyDeaths)
      this.#watch(await this.#launch())
    } catch (cause) {
      this.#process = undefined
      const lost = cause instanceof EngineStartError
      this.#lost.resolve(lost ? cause : new EngineStartError(engine, dataDir, 'it was lost.', { cause }))
    }
  }
}

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < FREE_BYTES_MIN
}

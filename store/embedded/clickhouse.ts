/**
 * ClickHouse as a part of the program: the engine (chDB) in a child process of ours that answers like a ClickHouse
 * server on loopback. Everything else talks to it through the ordinary client.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Clock, type Runtime, systemRuntime } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import { writeConfig } from './clickhouseConfig.ts'
import { asDataDirectoryError, EngineStartError, errnoOf } from './errors.ts'
import { LogTail } from './logTail.ts'
import { waitForExit } from './postmaster.ts'
import { identityOf, isAlive, type ProcessIdentity, parseIdentity } from './processIdentity.ts'
import type { QueryServerOptions } from './queryServer.ts'
import { readOrCreateSecret } from './secretFile.ts'

export interface ClickHouseOptions {
  /** DATA_DIR; the engine's files go to `clickhouse/` in it. */
  readonly dataDir: string
  /** 0 or absent: any free port. */
  readonly port?: number
  /** What the restricted reader may SELECT from: `chain_1_sql.*`, `chain_1.logs`. Fixed until the next start. */
  readonly readerGrants: readonly string[]
  readonly log: Logger
  readonly runtime?: Runtime
}

/** What the parent tells a new child. */
export interface ServeMessage {
  readonly port: number
  readonly options: QueryServerOptions
}

/**
 * Starts the engine and waits until it answers. A child left by a killed program is ended first. Afterwards a child
 * that dies is started again on the same port.
 * @throws EngineStartError when it does not come up, DataDirectoryError when its files cannot be written.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<EmbeddedClickHouse> {
  const clickhouse = new EmbeddedClickHouse(options)
  await clickhouse.start()
  return clickhouse
}

export class EmbeddedClickHouse {
  readonly username = 'millrace'
  readonly readerUsername = 'millrace_reader'
  readonly #options: ClickHouseOptions
  readonly #dataDir: string
  readonly #folder: string
  readonly #clock: Clock
  #port: number
  #password = ''
  #readerPassword = ''
  #child: ChildProcess | undefined
  #stopping: Promise<void> | undefined
  readonly #lost = Promise.withResolvers<EngineStartError>()

  constructor(options: ClickHouseOptions) {
    this.#options = options
    this.#dataDir = resolve(options.dataDir)
    this.#folder = join(this.#dataDir, 'clickhouse')
    this.#clock = (options.runtime ?? systemRuntime()).clock
    this.#port = options.port ?? 0
  }

  /** Without login. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get password(): string {
    return this.#password
  }

  /** For queries the program passes on: SELECT from the granted tables, with limits, nothing else. */
  get readerPassword(): string {
    return this.#readerPassword
  }

  /** The child's pid; changes when it had to be started again. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Settles when the child died and could not be started again. Never rejects. */
  get lost(): Promise<EngineStartError> {
    return this.#lost.promise
  }

  async start(): Promise<void> {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      this.#password = readOrCreateSecret(join(this.#folder, 'password'))
      this.#readerPassword = readOrCreateSecret(join(this.#folder, 'reader-password'))
      writeConfig(this.#folder, this.#options.readerGrants)
    } catch (error) {
      throw errnoOf(error) === undefined ? error : asDataDirectoryError(this.#dataDir, error)
    }
    await this.#endOrphan()
    await this.#launch()
  }

  /** Ends running reads, lets writes finish (bounded), closes the engine. Resolves when the process is gone. */
  stop(): Promise<void> {
    this.#stopping ??= this.#endChild()
    return this.#stopping
  }

  async #endChild(): Promise<void> {
    const { pid } = this
    if (pid === 0) return
    await end(identityOf(pid), this.#clock)
    rmSync(this.#pidFile, { force: true })
  }

  get #pidFile(): string {
    return join(this.#folder, 'process.json')
  }

  /**
   * A child whose parent was killed is closing the engine already. It is waited for, not adopted: its channel is gone,
   * and its grants may be older than ours.
   */
  async #endOrphan(): Promise<void> {
    let orphan: ProcessIdentity | undefined
    try {
      orphan = parseIdentity(JSON.parse(readFileSync(this.#pidFile, 'utf8')))
    } catch {
      return
    }
    if (orphan === undefined || !isAlive(orphan)) return
    this.#options.log.info(
      { pid: orphan.pid },
      'ClickHouse of an earlier run is still closing; waiting for it.',
    )
    await end(orphan, this.#clock)
  }

  async #launch(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const problem = await this.#launchOnce()
      if (problem === undefined) return
      if (attempt === LAUNCH_ATTEMPTS_MAX || this.#stopping !== undefined) throw problem
      this.#options.log.warn({ attempt }, 'ClickHouse did not start; trying again.')
      await this.#clock.sleep(LAUNCH_PAUSE_MS * attempt)
    }
  }

  async #launchOnce(): Promise<EngineStartError | undefined> {
    const child = this.#spawn()
    const tail = new LogTail(child.stderr, this.#options.log, 'clickhouse')
    const ready = Promise.withResolvers<number>()
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null && 'port' in message)
        ready.resolve(Number(message.port))
    })
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(`status ${signal ?? code}`))
    })
    child.send(this.#serveMessage(), () => {})
    const outcome = await Promise.race([ready.promise, exited])
    if (typeof outcome === 'string') {
      return new EngineStartError('ClickHouse', this.#dataDir, `the engine ended with ${outcome}.`, {
        logTail: tail.lines,
      })
    }
    this.#port = outcome
    this.#child = child
    writeFileSync(this.#pidFile, JSON.stringify(identityOf(child.pid ?? 0)), { mode: 0o600 })
    void exited.then((status) => this.#restart(status))
    return undefined
  }

  #spawn() {
    const entry = fileURLToPath(new URL('./clickhouseServer.ts', import.meta.url))
    // A session of its own: Ctrl-C in the terminal must reach the parent alone.
    const child = spawn(process.execPath, [entry], {
      detached: true,
      env: { PATH: process.env['PATH'], TZ: 'UTC', UV_THREADPOOL_SIZE: String(THREADPOOL_SIZE) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    if (child.stderr === null) throw new TypeError('the child was started without stderr')
    return Object.assign(child, { stderr: child.stderr })
  }

  #serveMessage(): ServeMessage {
    const logins = {
      admin: { username: this.username, password: this.#password },
      reader: { username: this.readerUsername, password: this.#readerPassword },
    }
    return {
      port: this.#port,
      options: {
        dataPath: join(this.#folder, 'data'),
        configFile: join(this.#folder, 'config.xml'),
        logins,
        limits: { lanesMax: LANES_MAX, readerLanesMax: READER_LANES_MAX, waitingMax: WAITING_MAX },
      },
    }
  }

  async #restart(status: string): Promise<void> {
    if (this.#stopping !== undefined) return
    this.#options.log.warn({ status }, 'ClickHouse ended by itself; starting it again.')
    try {
      await this.#launch()
      if (this.#stopping !== undefined) await this.#endChild()
    } catch (error) {
      const lost = 'the engine was lost.'
      this.#lost.resolve(
        error instanceof EngineStartError
          ? error
          : new EngineStartError('ClickHouse', this.#dataDir, lost, { cause: error }),
      )
    }
  }
}

// Each running query holds a thread of this pool. With the default of 4, reading a file waited 1.4 s behind four
// analytical queries.
const THREADPOOL_SIZE = 16
// Four threads stay for KILL QUERY and files.
const LANES_MAX = THREADPOOL_SIZE - 4
const READER_LANES_MAX = 8
const WAITING_MAX = 64

const LAUNCH_ATTEMPTS_MAX = 6
const LAUNCH_PAUSE_MS = 250
// The child gives running writes 10 s.
const STOP_MS = 15_000
const KILL_MS = 10_000

async function end(identity: ProcessIdentity, clock: Clock): Promise<void> {
  if (!isAlive(identity)) return
  process.kill(identity.pid, 'SIGTERM')
  if (await waitForExit(identity, STOP_MS, clock)) return
  process.kill(identity.pid, 'SIGKILL')
  await waitForExit(identity, KILL_MS, clock)
}

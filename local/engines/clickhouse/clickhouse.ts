/**
 * ClickHouse as a part of the program: the engine (chDB) in a child process of ours that answers
 * like a ClickHouse server on loopback. Everything else talks to it through the ordinary client.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Clock, type Runtime, systemRuntime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type EnginePackage, resolveEngine } from '../enginePackage.ts'
import { asDataDirectoryError, EngineStartError } from '../errors.ts'
import { LogTail } from '../LogTail.ts'
import { identityOf, isAlive, type ProcessIdentity, parseIdentity, waitForExit } from '../processIdentity.ts'
import { type EngineProcess, Supervisor } from '../Supervisor.ts'
import { readOrCreateSecret } from '../secretFile.ts'
import { writeConfig } from './clickhouseConfig.ts'
import type { QueryServerOptions } from './QueryServer.ts'
import { clearSpoolFolder } from './spoolFolder.ts'

export interface ClickHouseOptions {
  /** DATA_DIR; the engine's files go to `clickhouse/` in it. */
  readonly dataDir: string
  /** 0 or absent picks a free port. */
  readonly port?: number
  /**
   * The tables that the restricted reader may SELECT from: `chain_1_sql.*`, `chain_1.logs`. Fixed until the
   * next start.
   */
  readonly readerGrants: readonly string[]
  readonly log: Logger
  readonly runtime?: Runtime
}

/** The parent's message to a new child. */
export interface ServeMessage {
  readonly port: number
  readonly options: QueryServerOptions
}

/**
 * Starts the engine and waits until it answers. A child left by a killed program is ended first.
 * Afterwards a child that dies is started again on the same port.
 * @throws EngineStartError when it does not come up, DataDirectoryError when its files cannot be
 * written.
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
  #rowsFolder = ''
  #password = ''
  #readerPassword = ''
  readonly #supervisor: Supervisor

  constructor(options: ClickHouseOptions) {
    this.#options = options
    this.#dataDir = resolve(options.dataDir)
    this.#folder = join(this.#dataDir, 'clickhouse')
    this.#clock = (options.runtime ?? systemRuntime()).clock
    this.#port = options.port ?? 0
    this.#supervisor = new Supervisor({
      engine: 'ClickHouse',
      dataDir: this.#dataDir,
      folder: this.#folder,
      log: options.log,
      clock: this.#clock,
      launch: () => this.#launch(),
      end: (identity) => end(identity, this.#clock),
    })
  }

  /** Without login. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get password(): string {
    return this.#password
  }

  /** A file in it can be read by `file(path, format)`; made again at the start. */
  get rowsFolder(): string {
    return this.#rowsFolder
  }

  /**
   * For queries the program passes on: SELECT from the granted tables, with limits, nothing else.
   */
  get readerPassword(): string {
    return this.#readerPassword
  }

  /** The child's pid; changes when it had to be started again. */
  get pid(): number {
    return this.#supervisor.pid
  }

  /** Settles when the child died and could not be started again. Never rejects. */
  get lost(): Promise<EngineStartError> {
    return this.#supervisor.lost
  }

  async start(): Promise<void> {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      this.#password = readOrCreateSecret(join(this.#folder, 'password'))
      this.#readerPassword = readOrCreateSecret(join(this.#folder, 'reader-password'))
      writeConfig(this.#folder, this.#options.readerGrants)
    } catch (error) {
      throw asDataDirectoryError(this.#dataDir, error)
    }
    assertSupported(this.#dataDir)
    await this.#endOrphan()
    this.#clearRowsFolder()
    await this.#supervisor.start()
  }

  /**
   * Ends running reads, lets writes finish (bounded), closes the engine. Resolves when the process
   * is gone.
   */
  stop(): Promise<void> {
    return this.#supervisor.stop()
  }

  get #dataPath(): string {
    return join(this.#folder, 'data')
  }

  #clearRowsFolder(): void {
    try {
      this.#rowsFolder = clearSpoolFolder(this.#dataPath)
    } catch (error) {
      throw asDataDirectoryError(this.#dataDir, error)
    }
  }

  get #pidFile(): string {
    return join(this.#folder, 'process.json')
  }

  /**
   * A child whose parent was killed is closing the engine already. It is waited for, not adopted:
   * its channel is gone, and its grants may be older than ours.
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

  async #launch(): Promise<EngineProcess> {
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
    const identity = identityOf(child.pid ?? 0)
    writeFileSync(this.#pidFile, JSON.stringify(identity), { mode: 0o600 })
    child.send(this.#serveMessage(), () => {})
    const outcome = await Promise.race([ready.promise, exited])
    if (typeof outcome === 'string') throw this.#startError(`the engine ended with ${outcome}.`, tail.lines)
    this.#port = outcome
    return { identity, exited }
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
        dataPath: this.#dataPath,
        configFile: join(this.#folder, 'config.xml'),
        spoolFolder: this.#rowsFolder,
        logins,
        limits: { threadsMax: THREADS_MAX, readerThreadsMax: READER_THREADS_MAX, waitingMax: WAITING_MAX },
      },
    }
  }

  #startError(problem: string, logTail: readonly string[]): EngineStartError {
    return new EngineStartError('ClickHouse', this.#dataDir, problem, { logTail })
  }
}

// Each running query holds a thread of this pool. With the default of 4, reading a file waited 1.4
// s behind four analytical queries.
const THREADPOOL_SIZE = 16
// Four threads stay for KILL QUERY and files.
const THREADS_MAX = THREADPOOL_SIZE - 4
const READER_THREADS_MAX = 8
const WAITING_MAX = 64

// The child gives running writes 10 s.
const STOP_MS = 15_000
const KILL_MS = 10_000

/**
 * chDB's library exists for glibc Linux and macOS. Checked before a child is started, which could
 * only die.
 * @throws EngineStartError naming the platform.
 */
function assertSupported(dataDir: string): void {
  const require = createRequire(import.meta.url)
  resolveEngine(enginePackage, dataDir, (name) => createRequire(require.resolve('chdb')).resolve(name))
}

const enginePackage: EnginePackage = {
  engine: 'ClickHouse',
  setting: 'CLICKHOUSE_URL',
  packages: {
    'linux-x64': '@chdb/lib-linux-x64-gnu',
    'linux-arm64': '@chdb/lib-linux-arm64-gnu',
    'darwin-x64': '@chdb/lib-darwin-x64',
    'darwin-arm64': '@chdb/lib-darwin-arm64',
  },
}

async function end(identity: ProcessIdentity, clock: Clock): Promise<void> {
  if (!isAlive(identity)) return
  process.kill(identity.pid, 'SIGTERM')
  if (await waitForExit(identity, STOP_MS, clock)) return
  process.kill(identity.pid, 'SIGKILL')
  await waitForExit(identity, KILL_MS, clock)
}

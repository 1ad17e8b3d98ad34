/**
 * Postgres as a part of the program: the real server, started from node_modules on a data directory of ours, loopback
 * only. It outlives a kill -9 of this program; the next start finds it by its pid file and goes on with it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from 'pg'

import { type Clock, type Runtime, systemRuntime } from '#runtime.ts'
import type { Logger } from '#telemetry.ts'
import { asDataDirectoryError, EngineStartError, errnoOf } from './errors.ts'
import { findFreePort } from './freePort.ts'
import { LogTail } from './logTail.ts'
import { findPostgresBinaries, launchOf, postgresOwner } from './postgresBinaries.ts'
import { serverArguments } from './postgresSettings.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'
import { identityOf, isAlive, type ProcessIdentity } from './processIdentity.ts'
import { readOrCreateSecret } from './secretFile.ts'

export interface PostgresOptions {
  /** DATA_DIR; the server's files go to `postgres/` in it. */
  readonly dataDir: string
  /** 0 or absent: any free port. An adopted server keeps its own. */
  readonly port?: number
  readonly log: Logger
  readonly runtime?: Runtime
}

/** The superuser, and the database everything of ours lives in. */
const SUPERUSER = 'postgres'
const DATABASE = 'millrace'

/**
 * Starts Postgres, or goes on with the one a killed program left behind. Afterwards a server that dies is started
 * again on the same port.
 * @throws EngineStartError when it does not come up, DataDirectoryError when its files cannot be written.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const postgres = new EmbeddedPostgres(options)
  await postgres.start()
  return postgres
}

export class EmbeddedPostgres {
  readonly #folder: string
  readonly #pgData: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #dataDir: string
  #port: number
  #password = ''
  #server: ProcessIdentity | undefined
  #stopping: Promise<void> | undefined
  readonly #lost = Promise.withResolvers<EngineStartError>()

  constructor(options: PostgresOptions) {
    this.#dataDir = resolve(options.dataDir)
    this.#folder = join(this.#dataDir, 'postgres')
    this.#pgData = join(this.#folder, 'data')
    this.#log = options.log
    this.#clock = (options.runtime ?? systemRuntime()).clock
    this.#port = options.port ?? 0
  }

  /** Superuser on the database `millrace`. Holds the password. */
  get url(): string {
    return this.#urlOf(DATABASE)
  }

  /** Superuser on the database `postgres`, for creating and dropping databases. Holds the password. */
  get adminUrl(): string {
    return this.#urlOf('postgres')
  }

  get port(): number {
    return this.#port
  }

  /** The postmaster's pid; changes when it had to be started again. */
  get pid(): number {
    return this.#server?.pid ?? 0
  }

  /** Settles when the server died and could not be started again. Never rejects. */
  get lost(): Promise<EngineStartError> {
    return this.#lost.promise
  }

  async start(): Promise<void> {
    await this.#prepare()
    if (!(await this.#adopt())) await this.#launch()
    await this.#createDatabase()
  }

  /** Fast shutdown: open transactions roll back. Resolves when the process is gone. */
  stop(): Promise<void> {
    this.#stopping ??=
      this.#server === undefined ? Promise.resolve() : stopPostmaster(this.#server, this.#clock)
    return this.#stopping
  }

  #urlOf(database: string): string {
    return `postgres://${SUPERUSER}:${this.#password}@127.0.0.1:${this.#port}/${database}`
  }

  /** Makes the data directory once. initdb works on a draft, so that a kill in the middle leaves nothing half done. */
  async #prepare(): Promise<void> {
    const { initdb } = findPostgresBinaries(this.#dataDir)
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      chmodSync(this.#folder, postgresOwner() === undefined ? 0o700 : 0o711)
      this.#password = readOrCreateSecret(join(this.#folder, 'password'))
      if (existsSync(join(this.#pgData, 'PG_VERSION'))) return
      const draft = `${this.#pgData}.new`
      rmSync(draft, { recursive: true, force: true })
      mkdirSync(draft, { mode: 0o700 })
      giveAway(draft)
      await this.#initdb(initdb, draft)
      renameSync(draft, this.#pgData)
    } catch (error) {
      throw errnoOf(error) === undefined ? error : asDataDirectoryError(this.#dataDir, error)
    }
  }

  async #initdb(program: string, draft: string): Promise<void> {
    const passwordFile = `${this.#folder}/initdb-password`
    writeFileSync(passwordFile, this.#password, { mode: 0o600 })
    giveAway(passwordFile)
    const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8', '--no-locale']
    const login = ['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`]
    try {
      const child = this.#spawn(program, ['-D', draft, ...locale, ...login], draft)
      const tail = new LogTail(child.stderr, this.#log, 'initdb')
      const code = await exitOf(child)
      if (code !== 0) throw this.#startError(`initdb ended with ${code}.`, tail.lines)
    } finally {
      rmSync(passwordFile, { force: true })
    }
  }

  /** Goes on with a living server of this data directory, unless it runs with other settings than ours. */
  async #adopt(): Promise<boolean> {
    const found = findPostmaster(this.#pgData)
    if (found === undefined) return false
    const ownPort = this.#port
    this.#port = found.port
    if (await this.#isOurs()) {
      this.#log.info({ pid: found.process.pid }, 'Postgres of an earlier run is still up; going on with it.')
      this.#server = found.process
      this.#watchAdopted(found.process)
      return true
    }
    this.#log.warn({ pid: found.process.pid }, 'Postgres of an earlier run is in the way; stopping it.')
    await stopPostmaster(found.process, this.#clock)
    this.#port = ownPort
    return false
  }

  async #isOurs(): Promise<boolean> {
    const deadline = this.#clock.monotonic() + ADOPTION_MS
    while (this.#clock.monotonic() < deadline) {
      try {
        const name = await this.#query(this.adminUrl, 'SHOW cluster_name')
        return name === fingerprint(this.#pgData)
      } catch (error) {
        // Recovering, or shutting down: a refused login is final, everything else may pass.
        if (isLoginRefused(error)) return false
        await this.#clock.sleep(ADOPTION_POLL_MS)
        if (findPostmaster(this.#pgData) === undefined) return false
      }
    }
    return false
  }

  async #launch(): Promise<void> {
    const fixed = this.#port !== 0
    for (let attempt = 1; ; attempt += 1) {
      if (!fixed && attempt > 1) this.#port = 0
      if (this.#port === 0) this.#port = await findFreePort()
      const problem = await this.#launchOnce()
      if (problem === undefined) return
      if (attempt === LAUNCH_ATTEMPTS_MAX) throw problem
      this.#log.debug({ attempt }, 'Postgres did not start; trying again.')
      await this.#clock.sleep(LAUNCH_PAUSE_MS * attempt)
    }
  }

  async #launchOnce(): Promise<EngineStartError | undefined> {
    const { postgres } = findPostgresBinaries(this.#dataDir)
    const settings = [...serverArguments, `cluster_name=${fingerprint(this.#pgData)}`]
    const args = [
      '-D',
      this.#pgData,
      '-p',
      String(this.#port),
      ...settings.flatMap((setting) => ['-c', setting]),
    ]
    const child = this.#spawn(postgres, args, this.#pgData)
    const ready = Promise.withResolvers<void>()
    const tail = new LogTail(child.stderr, this.#log, 'postgres', (line) => {
      if (line.includes('database system is ready to accept connections')) ready.resolve()
    })
    const exited = exitOf(child)
    const code = await Promise.race([ready.promise, exited])
    if (code !== undefined) return this.#startError(`the server ended with ${code}.`, tail.lines)
    this.#server = identityOf(child.pid ?? 0)
    void exited.then((status) => this.#restart(`status ${status}`))
    child.unref()
    return undefined
  }

  #spawn(program: string, args: readonly string[], cwd: string) {
    const launch = launchOf(program, this.#dataDir)
    const user = launch.uid === undefined ? {} : { uid: launch.uid, gid: launch.uid }
    // A session of its own: Ctrl-C in the terminal must reach us alone, or the server would stop before we flush.
    return spawn(launch.command, [...launch.args, ...args], {
      ...user,
      cwd,
      detached: true,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  }

  #watchAdopted(server: ProcessIdentity): void {
    const timer = setInterval(() => {
      if (isAlive(server)) return
      clearInterval(timer)
      void this.#restart('unknown status')
    }, ADOPTED_POLL_MS)
    timer.unref()
    void this.#lost.promise.then(() => clearInterval(timer))
  }

  async #restart(status: string): Promise<void> {
    if (this.#stopping !== undefined) return
    this.#log.warn({ status }, 'Postgres ended by itself; starting it again.')
    try {
      await this.#launch()
      if (this.#stopping !== undefined && this.#server !== undefined) {
        await stopPostmaster(this.#server, this.#clock)
      }
    } catch (error) {
      this.#lost.resolve(
        error instanceof EngineStartError ? error : this.#startError('the server was lost.', [], error),
      )
    }
  }

  async #createDatabase(): Promise<void> {
    const exists = await this.#query(this.adminUrl, `SELECT 1 FROM pg_database WHERE datname = '${DATABASE}'`)
    if (exists === undefined) await this.#query(this.adminUrl, `CREATE DATABASE ${DATABASE}`)
  }

  /** The first column of the first row. */
  async #query(connectionString: string, sql: string): Promise<unknown> {
    const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_MS })
    client.on('error', () => {})
    try {
      await client.connect()
      const result = await client.query({ text: sql, rowMode: 'array' })
      const row: unknown = result.rows[0]
      return Array.isArray(row) ? row[0] : undefined
    } finally {
      await client.end().catch(() => {})
    }
  }

  #startError(problem: string, logTail: readonly string[], cause?: unknown): EngineStartError {
    return new EngineStartError('Postgres', this.#dataDir, problem, { logTail, cause })
  }
}

// The shared memory of killed backends keeps a new server out until the last of them has noticed (measured: 0.1 s,
// 1.6 s after a kill under write load), and a free port may be taken by another before we use it.
const LAUNCH_ATTEMPTS_MAX = 8
const LAUNCH_PAUSE_MS = 250
const CONNECT_MS = 5_000
// An orphan may be replaying its log after a crash of its own.
const ADOPTION_MS = 60_000
const ADOPTION_POLL_MS = 100
const ADOPTED_POLL_MS = 1_000

/** Names settings and directory in the running server, so that another version of us does not adopt it unawares. */
function fingerprint(pgData: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([pgData, serverArguments]))
    .digest('hex')
  return `millrace-${hash.slice(0, 16)}`
}

/** Gives a path to the user the server runs as. */
function giveAway(path: string): void {
  const owner = postgresOwner()
  if (owner !== undefined) chownSync(path, owner, owner)
}

/** SQLSTATE class 28: the password is not the one of this data directory. */
function isLoginRefused(error: unknown): boolean {
  return errnoOf(error)?.startsWith('28') === true
}

function exitOf(child: ChildProcess): Promise<string | number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 'unknown'))
  })
}

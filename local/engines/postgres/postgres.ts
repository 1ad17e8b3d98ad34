/**
 * Postgres as a part of the program: the real server, started from node_modules on a data directory
 * of ours, loopback only. It outlives a kill -9 of this program; the next start finds it by its pid
 * file and goes on with it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { errnoOf } from '#errors.ts'
import { type Clock, type Runtime, systemRuntime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { findFreePort } from '../../freePort.ts'
import { asDataDirectoryError, EngineStartError } from '../errors.ts'
import { LogTail } from '../LogTail.ts'
import { identityOf, isAlive, type ProcessIdentity } from '../processIdentity.ts'
import { type EngineProcess, Supervisor } from '../Supervisor.ts'
import { readOrCreateSecret } from '../secretFile.ts'
import { findPostgresBinaries, launchOf, postgresOwner, withMemoryLimit } from './postgresBinaries.ts'
import { serverArguments } from './postgresSettings.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'

export interface PostgresOptions {
  /** DATA_DIR; the server's files go to `postgres/` in it. */
  readonly dataDir: string
  /** 0 or absent picks a free port. An adopted server keeps its own. */
  readonly port?: number
  readonly log: Logger
  readonly runtime?: Runtime
}

/** The superuser, and the database everything of ours lives in. */
const SUPERUSER = 'postgres'
const DATABASE = 'millrace'

/**
 * Starts Postgres, or goes on with the one a killed program left behind. Afterwards a server that
 * dies is started again on the same port.
 * @throws EngineStartError when it does not come up, DataDirectoryError when its files cannot be
 * written.
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
  readonly #supervisor: Supervisor

  constructor(options: PostgresOptions) {
    this.#dataDir = resolve(options.dataDir)
    this.#folder = join(this.#dataDir, 'postgres')
    this.#pgData = join(this.#folder, 'data')
    this.#log = options.log
    this.#clock = (options.runtime ?? systemRuntime()).clock
    this.#port = options.port ?? 0
    this.#supervisor = new Supervisor({
      engine: 'Postgres',
      dataDir: this.#dataDir,
      folder: this.#folder,
      log: this.#log,
      clock: this.#clock,
      launch: () => this.#launch(),
      end: (identity) => stopPostmaster(identity, this.#clock),
    })
  }

  /** Superuser on the database `millrace`. Holds the password. */
  get url(): string {
    return this.#urlOf(DATABASE)
  }

  /**
   * Superuser on the database `postgres`, for creating and dropping databases. Holds the password.
   */
  get adminUrl(): string {
    return this.#urlOf('postgres')
  }

  get port(): number {
    return this.#port
  }

  /** The postmaster's pid; changes when it had to be started again. */
  get pid(): number {
    return this.#supervisor.pid
  }

  /** Settles when the server died and could not be started again. Never rejects. */
  get lost(): Promise<EngineStartError> {
    return this.#supervisor.lost
  }

  async start(): Promise<void> {
    if (postgresOwner() !== undefined) this.#log.warn({}, sharedOwnerWarning)
    await this.#prepare()
    await this.#supervisor.start(await this.#adopt())
    try {
      await this.#createDatabase()
    } catch (cause) {
      await this.stop()
      throw new EngineStartError('Postgres', this.#dataDir, 'the server does not answer.', { cause })
    }
  }

  /** Fast shutdown: open transactions roll back. Resolves when the process is gone. */
  stop(): Promise<void> {
    return this.#supervisor.stop()
  }

  #urlOf(database: string): string {
    return `postgres://${SUPERUSER}:${this.#password}@127.0.0.1:${this.#port}/${database}`
  }

  /**
   * Makes the data directory once. initdb works on a draft, so that a kill in the middle leaves
   * nothing half done.
   */
  async #prepare(): Promise<void> {
    const { initdb } = findPostgresBinaries(this.#dataDir)
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      chmodSync(this.#folder, postgresOwner() === undefined ? 0o700 : 0o711)
      this.#password = readOrCreateSecret(join(this.#folder, 'password'))
      // Made by another user, say root, it looks empty to us: say so before a second one is made
      // beside it.
      if (existsSync(this.#pgData)) accessSync(this.#pgData, constants.R_OK | constants.X_OK)
      if (existsSync(join(this.#pgData, 'PG_VERSION'))) {
        giveAwayAll(this.#pgData)
        return
      }
      const draft = `${this.#pgData}.new`
      rmSync(draft, { recursive: true, force: true })
      mkdirSync(draft, { mode: 0o700 })
      giveAway(draft)
      await this.#initdb(initdb, draft)
      renameSync(draft, this.#pgData)
    } catch (error) {
      throw error instanceof EngineStartError ? error : asDataDirectoryError(this.#dataDir, error)
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
      if (code !== '0') throw this.#startError(`initdb ended with status ${code}.`, tail.lines)
    } finally {
      rmSync(passwordFile, { force: true })
    }
  }

  /**
   * Goes on with a living server of this data directory, unless it runs with other settings than
   * ours.
   */
  async #adopt(): Promise<EngineProcess | undefined> {
    const found = findPostmaster(this.#pgData)
    if (found === undefined) return undefined
    const ownPort = this.#port
    this.#port = found.port
    const { identity } = found
    if (await this.#isOurs()) {
      this.#log.info({ pid: identity.pid }, 'Postgres of an earlier run is still up; going on with it.')
      return { identity, exited: exitOfStranger(identity) }
    }
    this.#log.warn({ pid: identity.pid }, 'Postgres of an earlier run is in the way; stopping it.')
    await stopPostmaster(identity, this.#clock)
    this.#port = ownPort
    return undefined
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

  /**
   * On the same port as before, so that holders of the URL connect again; the first time on a free
   * one.
   */
  async #launch(): Promise<EngineProcess> {
    const port = this.#port === 0 ? await findFreePort() : this.#port
    const { postgres } = findPostgresBinaries(this.#dataDir)
    const settings = [...serverArguments, `cluster_name=${fingerprint(this.#pgData)}`]
    const args = ['-D', this.#pgData, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
    const child = this.#spawn(postgres, args, this.#pgData)
    const ready = Promise.withResolvers<undefined>()
    const tail = new LogTail(child.stderr, this.#log, 'postgres', (line) => {
      if (line.includes('database system is ready to accept connections')) ready.resolve(undefined)
    })
    const exited = exitOf(child)
    const status = await Promise.race([ready.promise, exited])
    if (status !== undefined) throw this.#startError(`the server ended with status ${status}.`, tail.lines)
    this.#port = port
    child.unref()
    return { identity: identityOf(child.pid ?? 0), exited }
  }

  #spawn(program: string, args: readonly string[], cwd: string) {
    const launch = withMemoryLimit(launchOf(program, this.#dataDir))
    const user = launch.uid === undefined ? {} : { uid: launch.uid, gid: launch.uid }
    // A session of its own: Ctrl-C in the terminal must reach us alone, or the server would stop
    // before we flush.
    return spawn(launch.command, [...launch.args, ...args], {
      ...user,
      cwd,
      detached: true,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
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

  #startError(problem: string, logTail: readonly string[]): EngineStartError {
    return new EngineStartError('Postgres', this.#dataDir, problem, { logTail })
  }
}

/** A user without a name cannot run Postgres, so a user that is ours alone cannot be made up. */
const sharedOwnerWarning =
  'Postgres does not run as root, so it runs as `nobody`: other services of this machine that do the same can read its files. Run Millrace as a user of its own.'

const CONNECT_MS = 5_000
// An orphan may be replaying its log after a crash of its own.
const ADOPTION_MS = 60_000
const ADOPTION_POLL_MS = 100
const ADOPTED_POLL_MS = 1_000

/**
 * Names settings and directory in the running server, so that another version of us does not adopt
 * it unawares.
 */
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

/** The same for a whole directory, when the program ran as another user before. */
function giveAwayAll(directory: string): void {
  const owner = postgresOwner()
  if (owner === undefined || statSync(directory).uid === owner) return
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    giveAway(join(directory, name))
  giveAway(directory)
}

/** SQLSTATE class 28: the password is not the one of this data directory. */
function isLoginRefused(error: unknown): boolean {
  return errnoOf(error)?.startsWith('28') === true
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(String(signal ?? code)))
  })
}

/** An adopted server is no child of ours, so the system does not tell us when it ends. */
function exitOfStranger(server: ProcessIdentity): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setInterval(() => {
    if (isAlive(server)) return
    clearInterval(timer)
    resolve('unknown')
  }, ADOPTED_POLL_MS)
  timer.unref()
  return promise
}

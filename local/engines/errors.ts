/** Failures between a data directory and a running engine, as typed errors. All of them name DATA_DIR. */

import { errnoOf, failure } from '#errors.ts'

/** Why a data directory cannot be used. */
export type DataDirectoryProblem =
  | 'locked'
  | 'permission'
  | 'full'
  | 'not_a_directory'
  | 'unreadable'
  | 'silent'

/**
 * The data directory cannot be used; `path` and `problem` say which and why, `pid` who holds it.
 */
export class DataDirectoryError extends failure('DataDirectoryError', 'data_directory_unusable', 'stop') {
  readonly path: string
  readonly problem: DataDirectoryProblem
  /** The process that holds the directory, when `problem` is `locked`. */
  readonly pid: number | undefined

  constructor(path: string, problem: DataDirectoryProblem, options?: ErrorOptions & { pid?: number }) {
    super(`DATA_DIR ${path}: ${problemTexts[problem](options?.pid)}`, options)
    this.path = path
    this.problem = problem
    this.pid = options?.pid
  }
}

const problemTexts: Record<DataDirectoryProblem, (pid: number | undefined) => string> = {
  locked: (pid) =>
    `is in use by the running Millrace process ${pid}. Stop that process, or set DATA_DIR to another directory.`,
  permission: () =>
    'cannot be written by this user. Change its owner or mode, or set DATA_DIR to a directory of your own.',
  full: () => 'no space is left on its file system. Free some, or set DATA_DIR to a larger one.',
  not_a_directory: () => 'is not a directory. Move the file away, or set DATA_DIR to another path.',
  unreadable: () => 'cannot be read or made. Check the file system, or set DATA_DIR to another directory.',
  silent: () => 'its file system does not answer. Check the mount, or set DATA_DIR to another directory.',
}

/** A file system error as a data directory problem. */
export function asDataDirectoryError(path: string, error: unknown): DataDirectoryError {
  if (error instanceof DataDirectoryError) return error
  return new DataDirectoryError(path, problemOf(errnoOf(error)), { cause: error })
}

function problemOf(errno: string | undefined): DataDirectoryProblem {
  switch (errno) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'permission'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'full'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'not_a_directory'
    default:
      return 'unreadable'
  }
}

/** The engines that can run inside Millrace, and the setting that names an outside one instead. */
export type EngineName = 'Postgres' | 'ClickHouse'
const outsideSettings: Record<EngineName, string> = { Postgres: 'DATABASE_URL', ClickHouse: 'CLICKHOUSE_URL' }

/**
 * An embedded engine did not start, or could not be kept running. `logTail` is the end of what it
 * printed.
 */
export class EngineStartError extends failure('EngineStartError', 'engine_start_failed', 'stop') {
  readonly engine: EngineName
  readonly dataDir: string
  readonly logTail: readonly string[]

  constructor(
    engine: EngineName,
    dataDir: string,
    problem: string,
    options?: ErrorOptions & { logTail?: readonly string[] },
  ) {
    const logTail = options?.logTail ?? []
    const log = logTail.length > 0 ? `\nThe engine's last lines:\n  ${logTail.join('\n  ')}` : ''
    const instead = `Set ${outsideSettings[engine]} to use a server of your own instead.`
    super(`Embedded ${engine} in DATA_DIR ${dataDir}: ${problem} ${instead}${log}`, options)
    this.engine = engine
    this.dataDir = dataDir
    this.logTail = logTail
  }
}

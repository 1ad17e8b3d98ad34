/**
 * The private note a running program leaves in its data directory, so that a command beside it can
 * reach its engines.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { asDataDirectoryError } from './errors.ts'
import { isAlive, ownIdentity, parseIdentity } from './processIdentity.ts'

/** The addresses of the running engines. Holds passwords: the file is readable by its owner only. */
export interface Connection {
  readonly databaseUrl: string
  readonly clickhouseUrl: string
  readonly clickhouseUsername: string
  readonly clickhousePassword: string
}

/** Logins that may read the views of the served chains and nothing else. */
export interface Readers {
  readonly chainIds: readonly number[]
  readonly postgresUrl: string
  readonly clickhouse: { readonly url: string; readonly username: string; readonly password: string }
}

/** Writes the note of this process, replacing an older one in one step. */
export function writeConnection(dataDir: string, connection: Connection): void {
  replaceNote(dataDir, { ...connection, process: ownIdentity() })
}

/** Adds the readers' logins to the note of this process, for `millrace connect`. */
export function addReaders(dataDir: string, readers: Readers): void {
  const note = readNote(dataDir)
  if (note) replaceNote(dataDir, { ...note, readers })
}

/**
 * The readers' logins of the program that runs on this directory; undefined when none runs or none
 * is ready for SQL.
 */
export function readReaders(dataDir: string): Readers | undefined {
  const readers = readNote(dataDir)?.['readers']
  return isReaders(readers) ? readers : undefined
}

function isReaders(value: unknown): value is Readers {
  if (typeof value !== 'object' || value === null) return false
  return 'chainIds' in value && 'postgresUrl' in value && 'clickhouse' in value
}

function replaceNote(dataDir: string, note: object): void {
  const path = join(dataDir, FILE_NAME)
  try {
    writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    throw asDataDirectoryError(dataDir, error)
  }
}

/** Takes the note away again; call it before the engines stop. */
export function removeConnection(dataDir: string): void {
  rmSync(join(dataDir, FILE_NAME), { force: true })
}

/**
 * The note of the program running on this directory; undefined when none runs or none has started
 * its engines.
 */
export function readConnection(dataDir: string): Connection | undefined {
  const note = readNote(dataDir)
  const text = (name: string) => {
    const field = note?.[name]
    return typeof field === 'string' ? field : undefined
  }
  const databaseUrl = text('databaseUrl')
  const clickhouseUrl = text('clickhouseUrl')
  const clickhouseUsername = text('clickhouseUsername')
  const clickhousePassword = text('clickhousePassword')
  if (
    !databaseUrl ||
    !clickhouseUrl ||
    clickhouseUsername === undefined ||
    clickhousePassword === undefined
  ) {
    return undefined
  }
  return { databaseUrl, clickhouseUrl, clickhouseUsername, clickhousePassword }
}

/** The note's contents, if its writer still runs. */
function readNote(dataDir: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(join(dataDir, FILE_NAME), 'utf8'))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const writer = 'process' in value ? parseIdentity(value.process) : undefined
  return writer !== undefined && isAlive(writer) ? { ...value } : undefined
}

const FILE_NAME = 'connection.json'

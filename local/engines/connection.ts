/** The private note a running program leaves in its data directory, so that a command beside it can reach its engines. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { asDataDirectoryError } from './errors.ts'
import { isAlive, ownIdentity, parseIdentity } from './processIdentity.ts'

/** Where the running engines answer. Holds passwords: the file is readable by its owner only. */
export interface Connection {
  readonly databaseUrl: string
  readonly clickhouseUrl: string
  readonly clickhouseUsername: string
  readonly clickhousePassword: string
}

/** Writes the note of this process, replacing an older one in one step. */
export function writeConnection(dataDir: string, connection: Connection): void {
  const path = join(dataDir, FILE_NAME)
  const text = JSON.stringify({ ...connection, process: ownIdentity() })
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    throw asDataDirectoryError(dataDir, error)
  }
}

/** Takes the note away again; call it before the engines stop. */
export function removeConnection(dataDir: string): void {
  rmSync(join(dataDir, FILE_NAME), { force: true })
}

/** The note of the program running on this directory; undefined when none runs or none has started its engines. */
export function readConnection(dataDir: string): Connection | undefined {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(join(dataDir, FILE_NAME), 'utf8'))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const writer = 'process' in value ? parseIdentity(value.process) : undefined
  if (writer === undefined || !isAlive(writer)) return undefined
  const fields = new Map<string, unknown>(Object.entries(value))
  const text = (name: string) => {
    const field = fields.get(name)
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

const FILE_NAME = 'connection.json'

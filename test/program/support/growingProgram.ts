/**
 * The whole program on embedded engines of its own, following a recorded chain that grows, for
 * faults of the machine.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readConnection } from '#local/engines/connection.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  chainOf,
  freshDataDir,
  get,
  isRunning,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  statusOf,
  until,
} from './millrace.ts'

const CHAIN = 42431
const BLOCK_MS = 400
const POLL_MS = 100
/** Caught up, while the chain goes on growing under a busy machine. */
const LAG_BLOCKS_MAX = 3

export interface GrowingProgram {
  readonly program: RunningMillrace
  readonly replay: Replay
  readonly dataDir: string
  /** Newest block of a store; -1 while it has none. */
  tip(store: 'postgres' | 'clickhouse'): Promise<number>
  /** Blocks of the chain that a store still lacks. */
  waiting(): Promise<number>
  degraded(): Promise<boolean>
  /** Resident bytes of the program itself, without its engines. */
  residentBytes(): number
  /** Processes of Postgres with all its backends, or of ClickHouse. */
  enginePids(engine: 'postgres' | 'clickhouse'): number[]
  /**
   * Milliseconds until both stores have moved on by some blocks and no alarm holds; the test fails
   * after the bound.
   */
  recovery(boundMs: number): Promise<number>
  /** Both stores hold what the node says, compared by `verify` beside the program. */
  expectNothingLost(): Promise<void>
  /** Ends program and node; what they wrote stays. */
  stop(): Promise<void>
  /** Ends what still runs and removes the data. */
  close(): Promise<void>
}

/**
 * Waits until history is whole. `prepare` gets the data directory before anything is started in it.
 */
export async function startGrowing(prepare: (dataDir: string) => void = () => {}): Promise<GrowingProgram> {
  const dataDir = freshDataDir(CHAIN)
  prepare(dataDir.path)
  const replay = await startReplay(
    ...['--shape', 'tempo', '--head', '60', '--finality', '2', '--repeat', '50'],
    ...['--block-time', `${BLOCK_MS}`],
  )
  const env = { DATA_DIR: dataDir.path, RPC_URL: replay.url, VERIFY: 'links', LOG_LEVEL: 'error' }
  const program = await startMillrace(env)
  await until(async () => (await get(`${program.origin}/ready`)).status === 200)

  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= program.stop().then(() => replay.close())
    return stopping
  }
  const chain = () => chainOf(program, CHAIN)
  const tip: GrowingProgram['tip'] = async (store) => (await chain()).stores[store].tip ?? -1
  // A node that replays one recording again and again knows no old balances, and fills the same
  // orders twice.
  const degraded = async () =>
    (await statusOf(program)).alarms.some(({ code }) => !code.startsWith('projection_'))
  return {
    program,
    replay,
    dataDir: dataDir.path,
    tip,
    degraded,
    async waiting() {
      const { head, stores } = await chain()
      return (head ?? 0) - Math.min(stores.postgres.tip ?? -1, stores.clickhouse.tip ?? -1)
    },
    residentBytes: () => residentBytes(program.pid),
    enginePids: (engine) => {
      const pid = engine === 'postgres' ? postmasterPid(dataDir.path) : clickhousePid(dataDir.path)
      return [pid, ...childrenOf(pid)]
    },
    async recovery(boundMs) {
      const startedAt = performance.now()
      const before = { postgres: await tip('postgres'), clickhouse: await tip('clickhouse') }
      await expect
        .poll(
          async () =>
            (await tip('postgres')) > before.postgres + 2 &&
            (await tip('clickhouse')) > before.clickhouse + 2 &&
            ((await chain()).lagBlocks ?? LAG_BLOCKS_MAX + 1) <= LAG_BLOCKS_MAX &&
            !(await degraded()),
          { timeout: boundMs, interval: POLL_MS },
        )
        .toBe(true)
      return Math.round(performance.now() - startedAt)
    },
    async expectNothingLost() {
      const to = `${await tip('clickhouse')}`
      const verified = await runMillrace(['verify', '--from', '0', '--to', to], env)
      expect(verified.stdout).toContain('agreed')
      expect(verified.code).toBe(0)
    },
    stop,
    async close() {
      await stop()
      dataDir.remove()
    },
  }
}

/** Connections of the program to Postgres. */
export function databaseUrlOf(dataDir: string): string {
  const connection = readConnection(dataDir)
  if (!connection) throw new Error('the program has left no note')
  return connection.databaseUrl
}

export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10)
}

function clickhousePid(dataDir: string): number {
  return Number(JSON.parse(readFileSync(join(dataDir, 'clickhouse', 'process.json'), 'utf8')).pid)
}

/** Linux: the parent is the fourth field of /proc/<pid>/stat. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isRunning(pid) && parentOf(pid) === parent)
}

function parentOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    return 0
  }
}

/**
 * The program as a user runs it: `node main.ts …` in a process of its own, told everything by its
 * environment.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { StatusReport } from '#api/routes/service/status.ts'
import { DEV_CHAIN_ID, devChainFiles } from '#local/devchain/devChainRecord.ts'
import { isAlive, type ProcessIdentity, parseIdentity } from '#local/engines/processIdentity.ts'
import { settings } from '#program/settings/table.ts'
import { childrenOf, processesOf } from '../../support/processes.ts'

export type Environment = Readonly<Record<string, string>>

/** A command that has ended. */
export interface Ended {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** `millrace up`, answering. */
export interface RunningMillrace {
  readonly pid: number
  /** The URL of the API, such as `http://127.0.0.1:40123`. */
  readonly origin: string
  readonly port: string
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves when the program has ended, however it came to it. */
  readonly ended: Promise<Ended>
  /** Asks it to end, and waits for it. */
  stop(): Promise<Ended>
  /** SIGKILL: the program cannot do anything any more. */
  kill(): Promise<void>
}

const main = fileURLToPath(new URL('../../../main.ts', import.meta.url))

/** Our own environment without any setting of the program in it. */
const bareEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !Object.hasOwn(settings, name) && name !== 'NODE_OPTIONS'),
)

/** A new data directory; `remove` ends what a killed program left running in it and deletes it. */
export function freshDataDir(chainId = DEV_CHAIN_ID): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  const remove = () => {
    for (const pid of enginePids(path, chainId)) endProcess(pid)
    rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  return { path, remove }
}

/**
 * Processes that the engines and the dev chain of a directory wrote down, and that are there. A pid
 * alone may be another's by now: a run of all suites uses each of them several times.
 */
export function enginePids(dataDir: string, chainId = DEV_CHAIN_ID): number[] {
  const named = [join(dataDir, 'postgres', 'data', 'postmaster.pid'), devChainFiles(dataDir, chainId).record]
    .map(readPid)
    .filter((pid) => processesOf(dataDir).includes(pid))
  const clickhouse = readIdentity(join(dataDir, 'clickhouse', 'process.json'))
  return [...named, ...(clickhouse && isAlive(clickhouse) ? [clickhouse.pid] : [])]
}

/**
 * Runs a command to its end, as the test's user or another one. @throws with its output when a signal
 * ended it: no test sends one
 */
export async function runMillrace(args: readonly string[], env: Environment, uid?: number): Promise<Ended> {
  const child = spawnMillrace(args, env, uid)
  const ended = await waitForEnd(child, collect(child))
  if (ended.signal === null) return ended
  throw new Error(`${ended.signal} ended \`${args.join(' ')}\`: ${ended.stdout}${ended.stderr}`)
}

/**
 * Starts `up` and waits until it says where it answers. @throws with its output when it ends before
 */
export function startMillrace(env: Environment): Promise<RunningMillrace> {
  return awaitAddress(spawnMillrace(['up'], { PORT: '0', ...env }))
}

/** The same by `npm start`, as a supervisor does; `stop` sends SIGTERM to npm alone. */
export async function startByNpm(env: Environment & { readonly DATA_DIR: string }): Promise<RunningMillrace> {
  const child = spawn('npm', ['--silent', 'start'], {
    cwd: dirname(main),
    env: { ...bareEnvironment, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithUs(child)
  const running = await awaitAddress(child)
  return { ...running, pid: readPid(join(env.DATA_DIR, 'lock')) }
}

/**
 * The same on a terminal of its own, where Ctrl-C ends it. Both of its outputs appear in `stdout`.
 * Linux only.
 */
export async function startOnTerminal(env: Environment): Promise<RunningMillrace> {
  // `exec`: Ctrl-C reaches everything on the terminal, and a shell left waiting there would end by
  // it, with 130.
  const command = `exec ${[process.execPath, main, 'up'].map((word) => `'${word}'`).join(' ')}`
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    env: { ...bareEnvironment, PORT: '0', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  endWithUs(child)
  const running = await awaitAddress(child)
  const ctrlC = () => {
    child.stdin?.write(String.fromCharCode(3))
    return running.ended
  }
  return { ...running, stop: ctrlC }
}

/** The same as the first process of a container, for those who may make one. Linux only. */
export async function startAsFirst(env: Environment): Promise<RunningMillrace> {
  const args = ['--kill-child', process.execPath, main, 'up']
  const child = spawn('unshare', [...ofContainer, ...args], {
    env: { ...bareEnvironment, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithUs(child)
  const running = await awaitAddress(child)
  const stop = () => {
    for (const first of childrenOf(child.pid ?? 0)) process.kill(first, 'SIGTERM')
    return running.ended
  }
  return { ...running, stop }
}

const ofContainer = ['--fork', '--pid', '--mount-proc']

export const mayMakeContainers = (): boolean =>
  process.platform === 'linux' && spawnSync('unshare', [...ofContainer, 'true']).status === 0

async function awaitAddress(child: ChildProcess): Promise<RunningMillrace> {
  const output = collect(child)
  const exit = waitForEnd(child, output)
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface(streamOf(child.stdout)).on('line', (line) => {
      const [address] = /http:\/\/[\w.:]+/.exec(line) ?? []
      if (address) resolve(address)
    })
    const early = ({ code, signal, stderr }: Ended) =>
      reject(new Error(`the program ended with ${code ?? signal}: ${stderr}`))
    exit.then(early, reject)
  })
  return {
    pid: child.pid ?? 0,
    origin,
    port: new URL(origin).port,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    ended: exit,
    stop: () => {
      child.kill('SIGTERM')
      return exit
    },
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** GET; the body parsed when it is JSON. Shapes are asserted by the tests. */
export async function get(url: string): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await fetch(url)
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return { status: answer.status, body: isJson ? JSON.parse(text) : text }
}

export async function statusOf({ origin }: RunningMillrace): Promise<StatusReport> {
  const answer = await fetch(`${origin}/status`)
  return JSON.parse(await answer.text())
}

/** The status of one chain, by /status. */
export async function chainOf(program: RunningMillrace, chainId: number) {
  const chain = (await statusOf(program)).chains.find((candidate) => candidate.chainId === chainId)
  if (!chain) throw new Error(`chain ${chainId} is not reported`)
  return chain
}

/** Waits for a block in Postgres. The program itself wakes the request. */
export async function blockIndexed({ origin }: RunningMillrace, block: number): Promise<void> {
  while ((await get(`${origin}/ready?minBlock=${block}`)).status !== 200);
}

/** Waits for a block in everything that is computed from blocks. */
export async function blockProjected(program: RunningMillrace, block: number): Promise<void> {
  const isReached = ({ projections }: StatusReport['chains'][number]) =>
    projections.every(({ tip }) => (tip ?? 0) >= block)
  await until(async () => (await statusOf(program)).chains.every(isReached))
}

/** Waits until the condition holds; the test's own timeout ends a condition that never does. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 200))
}

function spawnMillrace(args: readonly string[], env: Environment, uid?: number): ChildProcess {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...bareEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  endWithUs(child)
  return child
}

/**
 * A killed test run must leave nothing: this shell sees our pipe close and asks the program to end.
 */
function endWithUs(child: ChildProcess): void {
  const script = 'read -r line; kill -TERM "$1"'
  const watch = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.unref()
  child.once('exit', () => watch.kill())
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  streamOf(child.stdout).on('data', (chunk) => {
    output.stdout += chunk
  })
  streamOf(child.stderr).on('data', (chunk) => {
    output.stderr += chunk
  })
  return output
}

async function waitForEnd(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Ended> {
  const [code, signal] = await once(child, 'close')
  return { code, signal, ...output }
}

function streamOf(stream: Readable | null): Readable {
  if (stream === null) throw new TypeError('the child was started without pipes')
  return stream
}

function readIdentity(path: string): ProcessIdentity | undefined {
  return existsSync(path) ? parseIdentity(JSON.parse(readFileSync(path, 'utf8'))) : undefined
}

/** The pid in a file: alone on its first line, or a field of JSON; 0 when there is none. */
export function readPid(path: string): number {
  try {
    const text = readFileSync(path, 'utf8')
    return text.startsWith('{') ? Number(JSON.parse(text).pid) : Number.parseInt(text, 10)
  } catch {
    return 0
  }
}

/** A zombie has ended; nobody has asked for its exit code yet. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch (error) {
    // No /proc on this system: the signal arrived, so it runs.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' && !existsSync('/proc')
  }
}

/** SIGKILL to what is still there. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself meanwhile.
  }
}

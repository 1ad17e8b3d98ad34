/**
 * The operating system's side of the dev chain: spawn anvil in a session of its own, recognise it
 * later by its id, end it. Only processes that are recognised as anvil are ever signalled, since
 * ids are reused.
 */
import { execFile, spawn } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Clock } from '#runtime/runtime.ts'

const POLL_MS = 25

/**
 * Starts anvil detached: it gets neither our Ctrl-C nor our death. It runs quietly, so its log
 * holds little more than the reason of an end; each start empties the file, which bounds it.
 */
export async function spawnAnvil(binary: string, flags: readonly string[], logFile: string): Promise<number> {
  const log = await open(logFile, 'w')
  try {
    const child = spawn(binary, flags, { detached: true, stdio: ['ignore', log.fd, log.fd] })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    child.unref()
    return child.pid ?? 0
  } finally {
    await log.close()
  }
}

/**
 * One anvil of ours: a process id, and the state file on its command line that no other process
 * has.
 */
export interface AnvilProcess {
  readonly pid: number
  readonly stateFile: string
}

/** True while the process is there, its port with it, and is the anvil it should be. */
export async function isRunning({ pid, stateFile }: AnvilProcess): Promise<boolean> {
  try {
    const line = await readCommandLine(pid)
    if (line === '') return await isEnding(pid)
    return /(^|\/)anvil /.test(line) && line.includes(stateFile)
  } catch {
    return false
  }
}

/**
 * Linux: a process that dies loses its command line before its port, which is given back with its
 * last thread. What is left after that is a zombie of one thread.
 */
async function isEnding(pid: number): Promise<boolean> {
  const [threads, status] = await Promise.all([
    readdir(`/proc/${pid}/task`),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  return /^Name:\s+anvil$/m.test(status) && (threads.length > 1 || !/^State:\s+[ZX]/m.test(status))
}

async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux')
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', 'command='])
  return stdout
}

/** Waits for the end of an anvil. True when it ended within the time. */
export async function awaitExit(anvil: AnvilProcess, timeoutMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + timeoutMs
  while (await isRunning(anvil)) {
    if (clock.monotonic() >= deadline) return false
    await clock.sleep(POLL_MS)
  }
  return true
}

/** Sends a signal to an anvil; does nothing when the id no longer belongs to it. */
export async function signalAnvil(anvil: AnvilProcess, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  if (!(await isRunning(anvil))) return
  try {
    process.kill(anvil.pid, signal)
  } catch {
    // It ended between the two lines.
  }
}

/** The last lines an anvil wrote, for an error message. */
export async function logTail(logFile: string, charactersMax = 600): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trim().slice(-charactersMax)
}

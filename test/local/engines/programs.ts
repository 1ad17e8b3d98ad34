/** Directories and programs for the tests of the embedded engines, cleaned up after each test. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Runtime, systemRuntime } from '#runtime/runtime.ts'

/** A new empty directory, removed after the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs something with a `stop` until the test ends. */
export function untilTestEnds<T extends { stop(): Promise<void> }>(running: T): T {
  onTestFinished(() => running.stop())
  return running
}

const { clock } = systemRuntime()

/** For an engine that never starts: no pause before it is tried again. */
export const withoutPauses: Runtime = {
  ...systemRuntime(),
  clock: { ...clock, sleep: (ms, signal) => clock.sleep(Math.min(ms, 20), signal) },
}

/** For a process that does not end when asked: five times less patience with it. */
export const shortOfPatience: Runtime = {
  ...systemRuntime(),
  clock: { ...clock, monotonic: () => clock.monotonic() * 5 },
}

/** A running program that holds `dataDir`, and the pids of its engines. */
export interface Program {
  readonly pids: Readonly<Record<'program' | 'postgres' | 'clickhouse' | 'devchain', number>>
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
}

export async function startProgram(
  dataDir: string,
  ...engines: ('postgres' | 'clickhouse' | 'devchain' | 'watch')[]
): Promise<Program> {
  const entry = fileURLToPath(new URL('./program.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [entry, dataDir, ...engines], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  if (child.stdout === null) throw new TypeError('the child was started without stdout')
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => Promise.reject(new Error(`the program ended with ${code}`))),
  ])
  return { pids: JSON.parse(String(line)), kill }
}

/** Waits until the condition holds; the test's own timeout ends a condition that never does. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

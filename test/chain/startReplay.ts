/** The replay server as a process of its own, for tests and benches. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { recordingPath } from './recordings.ts'

/** A recording served over JSON-RPC, as a good or a troublesome node. */
export interface Replay {
  readonly url: string
  readonly pid: number
  /**
   * Calls one of the replay's own methods, such as `replay_set`; undefined when its answer was lost
   * to a fault.
   */
  control(method: string, ...params: readonly unknown[]): Promise<unknown>
  close(): Promise<void>
}

/**
 * Starts the replay of the small recording, or of a later `--recording`; `flags` as README.md lists
 * them.
 */
export async function startReplay(...flags: readonly string[]): Promise<Replay> {
  const args = ['--recording', recordingPath('tempo-dev-2k'), '--port', '0', ...flags]
  const child = spawn(process.execPath, [join(import.meta.dirname, 'replay.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const first = await Promise.race([once(createInterface(child.stdout), 'line'), exited])
  if (child.exitCode !== null) throw new Error(`the replay server ended with ${child.exitCode}`)
  const { listening }: { listening: string } = JSON.parse(String(first[0]))
  return {
    url: listening,
    pid: child.pid ?? 0,
    async control(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      try {
        const answer = await fetch(listening, { method: 'POST', body })
        const { result }: { result: unknown } = JSON.parse(await answer.text())
        return result
      } catch {
        // A replay told to cut answers off cuts these off too, after it has done what they ask for.
        return undefined
      }
    },
    async close() {
      child.kill()
      await exited
    },
  }
}

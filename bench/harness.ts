/** What the benches share: a child process to run against, medians, and the machine they ran on. */
import { fork } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { ChainShape } from './cannedChain.ts'

export interface CannedNode {
  readonly url: string
  /** JSON bytes of the whole chain. */
  readonly bytes: number
  stop(): void
}

/** Starts a node with a chain of the shape; resolves when it answers. */
export function startCannedNode(shape: ChainShape): Promise<CannedNode> {
  const child = fork(fileURLToPath(new URL('./cannedNode.ts', import.meta.url)))
  child.send(shape)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('message', (message: { url: string; bytes: number }) =>
      resolve({ ...message, stop: () => child.disconnect() }),
    )
  })
}

/** One measured run. */
export interface Run {
  readonly wallSeconds: number
  /** Of this process and its threads. */
  readonly cpuSeconds: number
}

export async function measure(work: () => Promise<void> | void): Promise<Run> {
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await work()
  const wallSeconds = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { wallSeconds, cpuSeconds: (user + system) / 1e6 }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** One line of the table. */
export interface Line {
  readonly subject: string
  readonly value: string
  readonly against: string
}

export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`

export const perSecond = (count: number, seconds: number): string =>
  Math.round(count / seconds).toLocaleString('en-US')

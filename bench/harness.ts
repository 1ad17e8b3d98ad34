/** The common part of the benches: a canned node to read from, medians, and the machine they ran on. */
import { fork } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { answerOf } from './answerOf.ts'
import { buildCannedFile, type Chain } from './cannedFile.ts'
import type { LiveBlocks, NodeMessage, ServeMessage } from './cannedNode.ts'
import type { Heights } from './finality/cannedCertificates.ts'

export interface CannedNode {
  readonly url: string
  readonly blocks: number
  /** JSON bytes of the whole chain. */
  readonly bytes: number
  /** Blocks are answered from now on; until then their requests wait. */
  release(): void
  /** Requests for blocks wait again. */
  hold(): void
  /** The chain ends at a block and grows from there on. */
  live(blocks: LiveBlocks): void
  stop(): void
}

export interface NodeOptions {
  /** Waited before every answer. */
  readonly latencyMs?: number
  readonly answersLogs?: boolean
  /** Heights of which it serves certificates of finality. */
  readonly certified?: Heights | null
}

/** Starts a node with a chain; resolves when it answers. It holds back blocks until released. */
export async function startCannedNode(
  chain: Chain,
  { latencyMs = 0, answersLogs = false, certified = null }: NodeOptions = {},
): Promise<CannedNode> {
  const path = await buildCannedFile(chain)
  const child = fork(fileURLToPath(new URL('./cannedNode.ts', import.meta.url)))
  const serve: ServeMessage = { type: 'serve', path, latencyMs, answersLogs, certified }
  child.send(serve)
  const { url, blocks, bytes } = await answerOf<NodeMessage>(child)
  const tell = (type: 'hold' | 'release') => child.send({ type } satisfies ServeMessage)
  return {
    url,
    blocks,
    bytes,
    release: () => tell('release'),
    hold: () => tell('hold'),
    live: (grown) => child.send({ type: 'live', ...grown } satisfies ServeMessage),
    stop: () => child.disconnect(),
  }
}

/** One measured run. */
export interface Run {
  readonly wallSeconds: number
  /** This process and its threads together. */
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

/** The smallest value that this share of all of them do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
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

/** One run of the bare probe, in a process of its own. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CannedNode } from './harness.ts'
import type { ProbeMessage } from './probe.ts'
import { type CpuSeconds, cpuBetween, readUsage } from './processes.ts'

export interface ProbeRun {
  readonly seconds: number
  readonly cpu: CpuSeconds
  /** Rows written to each store. */
  readonly rows: number
}

/** The child's messages, in this order. */
type ProbeAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly rows: number }
  | { readonly type: 'closed' }

export async function runProbe(node: CannedNode): Promise<ProbeRun> {
  const child = fork(fileURLToPath(new URL('./probe.ts', import.meta.url)))
  const answered = () =>
    new Promise<ProbeAnswer>((resolve, reject) => {
      child.once('message', (message: ProbeAnswer) => resolve(message))
      child.once('exit', (code) => reject(new Error(`the probe ended with ${code}`)))
    })
  const say = (message: ProbeMessage) => {
    const answer = answered()
    child.send(message)
    return answer
  }
  try {
    node.release()
    await say({ type: 'open', url: node.url, blocks: node.blocks, batchBlocks: batchBlocksOf(node) })
    const before = readUsage(child.pid ?? 0)
    const begun = performance.now()
    const done = await say({ type: 'run' })
    const seconds = (performance.now() - begun) / 1000
    const cpu = cpuBetween(before, readUsage(child.pid ?? 0))
    await answered()
    return { seconds, cpu, rows: done.type === 'done' ? done.rows : 0 }
  } finally {
    if (child.connected) child.disconnect()
  }
}

/** As many as the real reader would settle for: answers of about 6 MB, and 250 blocks at most. */
const batchBlocksOf = ({ blocks, bytes }: CannedNode): number =>
  Math.max(1, Math.min(250, Math.floor((6_000_000 * blocks) / bytes)))

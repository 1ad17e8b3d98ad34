/**
 * Claim: the whole pipeline, durable and in both stores, is close to what the machine can do at all. The rival is a probe
 * in the same run: fetch, decode and insert the same rows into both engines, with no proof, ledger, journal or read-back.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identifyChain } from '#ingest/rpc/probe.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { openProgram } from '../commands/program.ts'
import { readConfig } from '../config.ts'
import { systemRuntime } from '../runtime.ts'
import { silentLogger } from '../telemetry.ts'
import type { ChainShape } from './cannedChain.ts'
import { type Line, measure, perSecond, type Run, startCannedNode } from './harness.ts'

const shapes: readonly ChainShape[] = [
  { name: 'dense', blocks: 2_000, txsPerBlock: 50, logsPerTx: 2, extraDataBytes: 0 },
  { name: 'sparse', blocks: 8_000, txsPerBlock: 2, logsPerTx: 2, extraDataBytes: 0 },
  { name: 'log-heavy', blocks: 400, txsPerBlock: 50, logsPerTx: 20, extraDataBytes: 128 },
]

export async function benchIngest(): Promise<Line[]> {
  const lines: Line[] = []
  for (const shape of shapes) lines.push(...(await benchShape(shape)))
  return lines
}

async function benchShape(shape: ChainShape): Promise<Line[]> {
  const node = await startCannedNode(shape)
  try {
    const pull = await measure(() => pullAll(node.url, shape))
    const links = await index(node.url, 'links')
    const roots = await index(node.url, 'roots')
    const logs = shape.blocks * shape.txsPerBlock * shape.logsPerTx
    const line = (name: string, run: Run): Line => ({
      subject: `${shape.name}: ${name}`,
      value: `${run.wallSeconds.toFixed(1)} s, ${perSecond(shape.blocks, run.wallSeconds)} blocks/s, ${perSecond(logs, run.wallSeconds)} logs/s, ${Math.round(node.bytes / 1e6 / run.wallSeconds)} MB/s, ${run.cpuSeconds.toFixed(1)} CPU s`,
      against: `${(run.wallSeconds / pull.wallSeconds).toFixed(1)} × pulling the bytes`,
    })
    return [
      line('pull the bytes', pull),
      line('both stores, links', links),
      line('both stores, roots', roots),
    ]
  } finally {
    node.stop()
  }
}

/** Fetches the whole chain and drops it. */
async function pullAll(url: string, shape: ChainShape): Promise<void> {
  const runtime = systemRuntime()
  const { chainId, genesisHash } = await identifyChain([url], runtime.clock)
  const source = createSource({
    chainId,
    genesisHash,
    urls: [url],
    finalityDepth: 0,
    runtime,
    log: silentLogger,
  })
  let next = 0
  const worker = async () => {
    while (next < shape.blocks) {
      const from = next
      next += source.batchBlocks
      let at = from
      const to = Math.min(shape.blocks, from + source.batchBlocks) - 1
      while (at <= to) at = (await source.fetch({ from: at, to })).range.to + 1
    }
  }
  await Promise.all(Array.from({ length: 4 }, worker))
  await source.close()
}

/** Indexes the whole chain into new embedded engines; the clock runs from the first fetch to both stores covering all. */
async function index(url: string, checks: 'links' | 'roots'): Promise<Run> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const config = readConfig({ RPC_URL: url, DATA_DIR: dataDir, VERIFY: checks, PORT: '0' })
  const runtime = systemRuntime()
  const program = await openProgram(config, runtime, silentLogger)
  try {
    const [chain] = program.chains
    if (!chain) throw new Error('no chain was opened')
    const run = await measure(async () => {
      await chain.start()
      while (!chain.caughtUp('all'))
        await chain.state.bell.wait(runtime.clock, 50, new AbortController().signal)
    })
    await chain.stop()
    return run
  } finally {
    await program.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

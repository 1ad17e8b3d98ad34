/**
 * Claim: the whole pipeline, durable, verified and in both stores, is close to what the machine can
 * do at all. The rival is the bare probe in the same run. What verification costs is told apart, by
 * a run that checks links only.
 */

import { analyticsTableNames, tables } from '#transform/tables.ts'
import type { Chain } from './cannedFile.ts'
import { type CannedNode, type Line, perSecond, startCannedNode } from './harness.ts'
import { type PipelineRun, runPipeline } from './pipelineRun.ts'
import { type ProbeRun, runProbe } from './probeRun.ts'
import { type CpuSeconds, totalCpu } from './processes.ts'
import { dense, denseBlocks, nameOf, shapes } from './shapes.ts'

/** `npm run bench ingest`; SHAPES=small,dense.. chooses. */
export async function benchIngest(): Promise<Line[]> {
  const lines: Line[] = []
  for (const chain of shapes(process.env['SHAPES']?.split(',') ?? []))
    lines.push(...(await benchChain(chain)))
  return lines
}

/** `npm run bench growth`: what a block costs must not depend on how many were there before. */
export async function benchGrowth(): Promise<Line[]> {
  const lines: Line[] = []
  let first = 0
  for (const times of [1, 4, 16]) {
    const node = await startCannedNode(dense((denseBlocks / 4) * times))
    try {
      const run = await runPipeline(node, 'roots')
      const perBlock = (1000 * totalCpu(run.queryable)) / node.blocks
      first ||= perBlock
      lines.push({
        subject: `dense, ${times}×: ${node.blocks.toLocaleString('en-US')} blocks`,
        value: `${seconds(run.queryableSeconds)}, ${perBlock.toFixed(1)} CPU ms per block, ${memory(run)}`,
        against: `${(perBlock / first).toFixed(2)} × the cost per block of the shortest`,
      })
    } finally {
      node.stop()
    }
  }
  return lines
}

/** `npm run bench far`: what 50 ms to the node cost, in the same run. */
export async function benchFar(): Promise<Line[]> {
  const chain = dense(denseBlocks)
  const secondsAt = async (latencyMs: number) => {
    const node = await startCannedNode(chain, { latencyMs })
    try {
      return (await runPipeline(node, 'roots')).committedSeconds
    } finally {
      node.stop()
    }
  }
  const [near, far] = [await secondsAt(0), await secondsAt(FAR_MS)]
  return [
    {
      subject: `dense, ${FAR_MS} ms to the node`,
      value: `committed ${seconds(far)}`,
      against: `${(far / near).toFixed(2)} × the ${seconds(near)} of a node beside it`,
    },
  ]
}

const FAR_MS = 50

async function benchChain(chain: Chain): Promise<Line[]> {
  const node = await startCannedNode(chain)
  try {
    // The probe reads the canned chain's order of fields, which recordings do not have.
    const probe = async () => (chain === 'recording' ? [] : [await runProbe(node)])
    const before = await probe()
    const links = await runPipeline(node, 'links')
    const between = await probe()
    const roots = await runPipeline(node, 'roots')
    const after = await probe()
    assertSame(links, roots)
    // A machine is not as fast all the time: each run is compared with the probes right before and
    // after it.
    return [
      ...probeLines(chain, node, [...before, ...between, ...after]),
      pipelineLine(chain, node, 'links checked', links, [...before, ...between]),
      pipelineLine(chain, node, 'roots recomputed', roots, [...between, ...after]),
      verificationLine(chain, links, roots),
    ]
  } finally {
    node.stop()
  }
}

function probeLines(chain: Chain, node: CannedNode, probes: readonly ProbeRun[]): Line[] {
  return probes.map(({ seconds: wall, cpu, rows }) => ({
    subject: `${nameOf(chain)}: bare probe`,
    value: [seconds(wall), rates(chain, node, wall), cpuText(cpu)].join(', '),
    against: `${rows.toLocaleString('en-US')} rows into each store`,
  }))
}

function pipelineLine(
  chain: Chain,
  node: CannedNode,
  name: string,
  run: PipelineRun,
  probes: readonly ProbeRun[],
): Line {
  const ratio = (own: number, of: (probe: ProbeRun) => number) =>
    ((own * probes.length) / probes.reduce((sum, probe) => sum + of(probe), 0)).toFixed(2)
  return {
    subject: `${nameOf(chain)}: ${name}`,
    value: [
      `committed ${seconds(run.committedSeconds)}, queryable ${seconds(run.queryableSeconds)}`,
      rates(chain, node, run.committedSeconds),
      cpuText(run.committed),
      memory(run),
    ].join(', '),
    against: probes[0]
      ? `${ratio(run.committedSeconds, (probe) => probe.seconds)} × the probe's time, ${ratio(totalCpu(run.committed), ({ cpu }) => totalCpu(cpu))} × its CPU, for ${(storedRows(run) / (2 * probes[0].rows)).toFixed(1)} × its rows`
      : `${storedRows(run).toLocaleString('en-US')} rows into the two stores`,
  }
}

function verificationLine(chain: Chain, links: PipelineRun, roots: PipelineRun): Line {
  const cost = roots.committed.program - links.committed.program
  return {
    subject: `${nameOf(chain)}: verification`,
    value: `${cost.toFixed(1)} CPU s`,
    against: `${Math.round((100 * cost) / totalCpu(roots.committed))} % of all CPU`,
  }
}

/** Both runs must leave the same rows. @throws when they do not */
function assertSame({ totals: one }: PipelineRun, { totals: other }: PipelineRun): void {
  if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error('two runs left different rows')
}

/**
 * Rows of both stores together, derived ones too, without the archive and its proofs; the totals
 * are `rows digest`.
 */
const storedRows = ({ totals }: PipelineRun): number =>
  analyticsTableNames.reduce((sum, name) => {
    const rows = Number(totals[name]?.split(' ')[0])
    return sum + (tables[name].stores === 'both' ? 2 : 1) * rows
  }, 0)

const seconds = (value: number): string => `${value.toFixed(2)} s`

function rates(chain: Chain, { blocks, bytes }: CannedNode, wall: number): string {
  const logs =
    chain === 'recording' ? '' : `${perSecond(blocks * chain.txsPerBlock * chain.logsPerTx, wall)} logs/s, `
  return `${perSecond(blocks, wall)} blocks/s, ${logs}${Math.round(bytes / 1e6 / wall)} MB/s`
}

const cpuText = ({ program, postgres, clickhouse }: CpuSeconds): string =>
  `CPU s ${program.toFixed(1)} + ${postgres.toFixed(1)} + ${clickhouse.toFixed(1)}`

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`

const memory = ({ programBytesMax, enginesBytesMax, bytesMax }: PipelineRun): string =>
  `${megabytes(programBytesMax)} + ${megabytes(enginesBytesMax)} of memory, ${megabytes(bytesMax)} at one moment`

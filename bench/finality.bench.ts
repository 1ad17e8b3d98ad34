/**
 * Claim: that a chain is final by proof slows neither its history nor its head. A node shows blocks
 * that are final as they come, and has their certificates; one program believes the node's word, the
 * other looks for a certificate each second and checks it. Both run by turns.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { cannedGroup } from './finality/cannedCertificates.ts'
import { type CannedNode, type Line, median, quantile, startCannedNode } from './harness.ts'
import { watchBlocks } from './live.bench.ts'
import { isCommitted } from './pipelineRun.ts'
import { cpuBetween, readUsage, totalCpu } from './processes.ts'
import { chainId, isQueryable, type RunningProgram, withProgramOf } from './program.ts'
import { dense, denseBlocks } from './shapes.ts'

const pairs = (usual: number): number => Number(process.env['FINALITY_PAIRS'] ?? usual)

const INGEST_PAIRS = pairs(5)
/** Beyond the history; more than a run takes in seconds. */
const INGEST_FRESH_BLOCKS = 90
const INGEST_INTERVAL_MS = 1_000
const SAMPLE_MS = 50
/** The first certificate comes seconds after the start; who needs none waits as long. */
const STARTING_MS = 8_000

const LIVE_PAIRS = pairs(2)
const LIVE_HISTORY_BLOCKS = 100
/** Come while the program starts up and reads history. */
const LIVE_STARTING_BLOCKS_MAX = 100
const LIVE_WATCHED_BLOCKS = 120
const LIVE_INTERVAL_MS = 500

type Rule = 'both' | 'endpoints'

/** `npm run bench finality`; FINALITY_PAIRS is how often both run. */
export async function benchFinality(): Promise<Line[]> {
  const [from, to] = [denseBlocks - 1, denseBlocks - 1 + INGEST_FRESH_BLOCKS]
  const node = await startCannedNode(dense(to + 1), { certified: { from, to } })
  try {
    const runs = await byTurns(INGEST_PAIRS, (rule) => {
      node.hold()
      node.live({ ...freshBlocks, sinceMs: Number.MAX_SAFE_INTEGER })
      return withRule(node, rule, (program) => ingest(program, node, rule))
    })
    const ratio = (figure: (run: IngestRun) => number) =>
      median(runs.both.map((run, index) => figure(runs.endpoints[index] ?? run) / figure(run)))
    const show = (rule: Rule) =>
      `${median(runs[rule].map(({ seconds }) => seconds)).toFixed(2)} s, CPU ${median(runs[rule].map(({ cpu }) => cpu)).toFixed(2)} s`
    const each = runs.both.map((run, index) =>
      ((runs.endpoints[index] ?? run).seconds / run.seconds).toFixed(2),
    )
    return [
      {
        subject: 'dense, roots recomputed, certificates checked: committed',
        value: `${ratio(({ seconds }) => seconds).toFixed(3)} × as fast (pairs ${each.join(', ')}), ${ratio(({ cpu }) => cpu).toFixed(3)} × by CPU; ${show('both')}`,
        against: `by the word of endpoints: ${show('endpoints')}; medians of ${INGEST_PAIRS} pairs by turns`,
      },
    ]
  } finally {
    node.stop()
  }
}

/** `npm run bench liveFinality`: from the node to readers of Postgres, two blocks a second. */
export async function benchLiveFinality(): Promise<Line[]> {
  const from = LIVE_HISTORY_BLOCKS - 1
  const to = from + LIVE_STARTING_BLOCKS_MAX + LIVE_WATCHED_BLOCKS
  const node = await startCannedNode(dense(to + 1), { certified: { from, to } })
  node.release()
  try {
    const lags = await byTurns(LIVE_PAIRS, (rule) => {
      const live = { from, sinceMs: Date.now(), intervalMs: LIVE_INTERVAL_MS, isFinalAtOnce: true }
      node.live(live)
      return withRule(node, rule, async (program) => {
        await program.until(() => isQueryable(program), 100)
        const found = await watchBlocks(program, live, LIVE_WATCHED_BLOCKS)
        await assertRule(program, rule, from + LIVE_WATCHED_BLOCKS)
        return found
      })
    })
    const at = (values: readonly number[], share: number) => `${Math.round(quantile(values, share))} ms`
    const show = (rule: Rule) =>
      [0.5, 0.99]
        .map((share) => `p${share * 100} ${lags[rule].map((values) => at(values, share)).join(' and ')}`)
        .join(', ')
    return [
      {
        subject: 'live, certificates checked: node to Postgres readers',
        value: show('both'),
        against: `by the word of endpoints: ${show('endpoints')}; ${LIVE_WATCHED_BLOCKS} dense blocks each, two a second`,
      },
    ]
  } finally {
    node.stop()
  }
}

/** Both rules so often, each as often first. */
async function byTurns<Result>(
  pairs: number,
  run: (rule: Rule) => Promise<Result>,
): Promise<Record<Rule, Result[]>> {
  const results: Record<Rule, Result[]> = { both: [], endpoints: [] }
  for (let pair = 0; pair < pairs; pair++) {
    const turns: readonly Rule[] = pair % 2 === 0 ? ['endpoints', 'both'] : ['both', 'endpoints']
    for (const rule of turns) results[rule].push(await run(rule))
  }
  return results
}

async function withRule<Result>(
  node: CannedNode,
  rule: Rule,
  work: (program: RunningProgram) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-config-'))
  const path = join(folder, 'chains.json')
  const finality = { rule, identity: cannedGroup.key, fromEpoch: 0 }
  writeFileSync(path, JSON.stringify({ chains: [{ chainId, rpcUrls: [node.url], finality }] }))
  try {
    return await withProgramOf({ CONFIG: path }, work)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface IngestRun {
  /** From the first block sent until both stores hold every row of the history durably. */
  readonly seconds: number
  readonly cpu: number
}

/** A chain that grows by a final block a second, so that each look finds another certificate. */
const freshBlocks = { from: denseBlocks - 1, intervalMs: INGEST_INTERVAL_MS, isFinalAtOnce: true }

async function ingest(program: RunningProgram, node: CannedNode, rule: Rule): Promise<IngestRun> {
  const client = new pg.Client({ connectionString: program.connection.databaseUrl })
  await client.connect()
  try {
    // Certificates prove what is held: so far that is nothing.
    const isDecided = () => assertRule(program, rule, denseBlocks - 1, ['agreed', 'proved']).then(() => true)
    await Promise.all([program.until(isDecided, SAMPLE_MS), setTimeout(STARTING_MS)])
    const before = readUsage(program.pid)
    const begun = performance.now()
    node.live({ ...freshBlocks, sinceMs: Date.now() })
    node.release()
    await program.until(() => isCommitted(client, denseBlocks), SAMPLE_MS)
    const seconds = (performance.now() - begun) / 1000
    const cpu = totalCpu(cpuBetween(before, readUsage(program.pid)))
    await assertRule(program, rule, denseBlocks - 1 + Math.floor(seconds / 2))
    return { seconds, cpu }
  } finally {
    await client.end()
  }
}

/** @throws when the chain is final by another rule, or its certificates stand below this height */
async function assertRule(
  { address }: RunningProgram,
  rule: Rule,
  height: number,
  told: readonly string[] = [rule === 'both' ? 'proved' : 'agreed'],
): Promise<void> {
  const { chains } = Object(await (await fetch(`${address}/status`)).json())
  const { finality } = Object(chains[0])
  const certificate = finality.certificateHeight ?? (rule === 'both' ? -1 : height)
  if (!told.includes(finality.rule) || certificate < height)
    throw new Error(`the chain is final otherwise: ${JSON.stringify(finality)}`)
}

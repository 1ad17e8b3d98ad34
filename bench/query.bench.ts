/**
 * Claims: SQL through the endpoint costs little more than the very statement on the bare engine, in
 * the same run; and a block reaches a thousand readers of one live query well within the time to
 * the next.
 */

import { setTimeout } from 'node:timers/promises'
import type { Engine } from '#primitives.ts'
import type { LiveBlocks } from './cannedNode.ts'
import { type CannedNode, type Line, median, quantile, startCannedNode } from './harness.ts'
import { isQueryable, type RunningProgram, withProgram } from './program.ts'
import { type BareEngine, openBareClickHouse, openBarePostgres } from './query/bareEngine.ts'
import { openReaders, readCommitMoments } from './query/fanOut.ts'
import { type BenchQuery, benchQueries } from './query/queries.ts'
import { dense, denseBlocks } from './shapes.ts'

/** Blocks that come while readers are there; the rest are history. */
const LIVE_BLOCKS = 60
const INTERVAL_MS = 500
const READERS = 1_000
/** One and the other in turn, so that a machine that becomes slower does so for both. */
const ROUNDS_MIN = 15
const ROUNDS_MAX = 200
const MS_PER_QUERY = 3_000
const WARMING_ROUNDS = 3
/** After which a frame that did not come is a failure, not a lag. */
const FRAMES_MS_MAX = 30_000

/** `npm run bench query`: 200,000 logs in both stores of the program as users start it. */
export async function benchQuery(): Promise<Line[]> {
  const node = await startCannedNode(dense(denseBlocks))
  const begun: LiveBlocks = {
    from: denseBlocks - LIVE_BLOCKS - 1,
    sinceMs: Number.MAX_SAFE_INTEGER,
    intervalMs: INTERVAL_MS,
  }
  node.live(begun)
  node.release()
  try {
    return await withProgram(node, 'links', async (program) => {
      await program.until(() => isQueryable(program), 100)
      return [...(await compareEngines(program)), await measureFanOut(program, node, begun)]
    })
  } finally {
    node.stop()
  }
}

async function compareEngines(program: RunningProgram): Promise<Line[]> {
  const lines: Line[] = []
  for (const open of [openBarePostgres, openBareClickHouse]) {
    const bare = await open(program.connection)
    try {
      for (const query of await benchQueries(program.address, bare.engine))
        lines.push(await compare(program, bare, query))
    } finally {
      await bare.close()
    }
  }
  return lines
}

async function compare({ address }: RunningProgram, bare: BareEngine, query: BenchQuery): Promise<Line> {
  const { horizon, rows } = await ask(address, bare.engine, query)
  const run = await bare.prepare(query, horizon)
  const measured = { endpoint: [] as number[], bare: [] as number[] }
  const begun = performance.now()
  for (let round = -WARMING_ROUNDS; round < ROUNDS_MAX; round++) {
    if (round >= ROUNDS_MIN && performance.now() - begun > MS_PER_QUERY) break
    const [endpoint, alone] = [await timed(() => ask(address, bare.engine, query)), await timed(run)]
    if (round >= 0) measured.endpoint.push(endpoint)
    if (round >= 0) measured.bare.push(alone)
  }
  const [endpoint, alone] = [median(measured.endpoint), median(measured.bare)]
  const line = {
    subject: `query: ${query.name} on ${bare.engine}, ${rows.toLocaleString('en-US')} rows`,
    value: `${endpoint.toFixed(1)} ms through the endpoint`,
    against: `${alone.toFixed(1)} ms bare: + ${(endpoint - alone).toFixed(1)} ms, ${Math.round((100 * endpoint) / alone - 100)} %`,
  }
  process.stderr.write(`${line.subject}: ${line.value}; ${line.against}\n`)
  return line
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

interface Answered {
  readonly rows: number
  readonly horizon: { readonly from: number; readonly to: number }
}

async function ask(address: string, engine: Engine, { sql, signatures }: BenchQuery): Promise<Answered> {
  const response = await fetch(`${address}/v1/indexer/query`, {
    method: 'POST',
    // The bare engine compresses nothing either.
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ sql, engine, signature: signatures, timeout_ms: 30_000 }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${sql}: ${response.status} ${text}`)
  // The rows stay unread: a client's parser is no cost of ours.
  const [rows, from, to] = [/"row_count":(\d+)/, /"horizon":\{"from":(\d+)/, /"to":(\d+)\}/].map((part) =>
    Number(part.exec(text)?.[1]),
  )
  return { rows: rows ?? 0, horizon: { from: from ?? 0, to: to ?? 0 } }
}

async function measureFanOut(program: RunningProgram, node: CannedNode, begun: LiveBlocks): Promise<Line> {
  const readers = await openReaders(program.address, READERS, 'SELECT num, hash, tx_count FROM blocks')
  try {
    const live = { ...begun, sinceMs: Date.now() + INTERVAL_MS }
    node.live(live)
    const wanted = READERS * LIVE_BLOCKS
    const deadline = live.sinceMs + LIVE_BLOCKS * INTERVAL_MS + FRAMES_MS_MAX
    while (readers.frames.length < wanted) {
      if (Date.now() > deadline) throw new Error(`${readers.frames.length} of ${wanted} frames came`)
      await setTimeout(INTERVAL_MS)
    }
    const committed = await readCommitMoments(program.connection.databaseUrl, live.from + 1)
    const lags = readers.frames.map(({ block, atMs }) => atMs - (committed.get(block) ?? Number.NaN))
    const at = (share: number) => `${Math.round(quantile(lags, share))} ms`
    return {
      subject: `query: commit to ${READERS.toLocaleString('en-US')} readers of one live query`,
      value: `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
      against: `${LIVE_BLOCKS} dense blocks, two a second, ${wanted.toLocaleString('en-US')} frames`,
    }
  } finally {
    readers.close()
  }
}

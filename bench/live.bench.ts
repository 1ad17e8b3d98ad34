/**
 * Claim: a block is in Postgres, for readers on any connection, well within the time to the next.
 * Counted from the moment the node has it. The node announces nothing, so that the program finds
 * blocks by asking: a node with announcements is faster.
 */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { schemaOf } from '#store/sql.ts'
import { dueMs, type LiveBlocks } from './cannedNode.ts'
import { type Line, quantile, startCannedNode } from './harness.ts'
import { chainId, isQueryable, type RunningProgram, withProgram } from './program.ts'
import { dense } from './shapes.ts'

const HISTORY_BLOCKS = 300
/** Come while the program starts up and reads history. */
const STARTING_BLOCKS_MAX = 180
const WATCHED_BLOCKS = 120
const INTERVAL_MS = 500
/** How exact a lag is; the reader costs the database a small statement each time. */
const LOOK_MS = 5
/** After which a block that nobody saw is a failure, not a lag. */
const BLOCK_MS_MAX = 30_000

/** `npm run bench live`: blocks of 50 transactions and 100 logs, two a second. */
export async function benchLive(): Promise<Line[]> {
  const node = await startCannedNode(dense(HISTORY_BLOCKS + STARTING_BLOCKS_MAX + WATCHED_BLOCKS))
  const live = { from: HISTORY_BLOCKS - 1, sinceMs: Date.now(), intervalMs: INTERVAL_MS }
  node.live(live)
  node.release()
  try {
    const lags = await withProgram(node, 'roots', async (program) => {
      await program.until(() => isQueryable(program), 100)
      return watchBlocks(program, live, WATCHED_BLOCKS)
    })
    const at = (share: number) => `${Math.round(quantile(lags, share))} ms`
    return [
      {
        subject: 'live: node to Postgres readers',
        value: `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`,
        against: `${WATCHED_BLOCKS} dense blocks, two a second, polled for`,
      },
    ]
  } finally {
    node.stop()
  }
}

/** Milliseconds from each block's coming to the first read that had it. */
export async function watchBlocks(
  { connection }: RunningProgram,
  live: LiveBlocks,
  blocks: number,
): Promise<number[]> {
  const client = new pg.Client({ connectionString: connection.databaseUrl })
  await client.connect()
  const newest = {
    name: 'newest',
    text: `SELECT num FROM ${schemaOf(chainId)}.blocks ORDER BY num DESC LIMIT 1`,
  }
  // The first block that is not there yet.
  const first = live.from + Math.floor((Date.now() - live.sinceMs) / live.intervalMs) + 1
  const last = first + blocks - 1
  const lags: number[] = []
  try {
    for (let seen = first - 1; seen < last; await setTimeout(LOOK_MS)) {
      const { rows } = await client.query<{ num: number }>(newest)
      const now = Date.now()
      for (const to = Number(rows[0]?.num ?? 0); seen < to; ) lags.push(now - dueMs(live, ++seen))
      if (now - dueMs(live, seen + 1) > BLOCK_MS_MAX) throw new Error(`block ${seen + 1} was never seen`)
    }
    return lags
  } finally {
    await client.end()
  }
}

/**
 * Claim: everything of a chain, proved and in both stores, is there sooner than a peer has its
 * Transfers in Postgres. Peer and product read the same node one after the other in one run.
 */
import { type Line, startCannedNode } from './harness.ts'
import { runSquid, squidVersion } from './peers/squid.ts'
import { runPipeline } from './pipelineRun.ts'
import { dense, denseBlocks } from './shapes.ts'

/** `npm run bench peers`; the first time it asks npm for the peer. */
export async function benchPeers(): Promise<Line[]> {
  const node = await startCannedNode(dense(denseBlocks), { answersLogs: true })
  const subject = `SQD ${squidVersion}: dense chain, Transfers into Postgres`
  try {
    const squid = await runSquid(node)
    const links = await runPipeline(node, 'links')
    const roots = await runPipeline(node, 'roots')
    return [
      {
        subject,
        value: `${squid.seconds.toFixed(2)} s, ${squid.rows.toLocaleString('en-US')} rows`,
        against: `everything in both stores in ${links.committedSeconds.toFixed(2)} s with links checked, ${roots.committedSeconds.toFixed(2)} s with roots recomputed: ${(squid.seconds / links.committedSeconds).toFixed(2)} × and ${(squid.seconds / roots.committedSeconds).toFixed(2)} × as fast`,
      },
    ]
  } finally {
    node.stop()
  }
}

/**
 * A fixed piece of work that has nothing of ours in it, so that seconds of two machines can be
 * compared.
 */
import { buildCannedFile, readCannedFile } from './cannedFile.ts'
import { type Line, median, startCannedNode } from './harness.ts'
import { dense, denseBlocks } from './shapes.ts'

const RUNS = 3
/** Blocks in one request. */
const BATCH_BLOCKS = 36

/**
 * `npm run bench calibration`: the dense chain pulled by plain fetch, and all of it through
 * JSON.parse; one thread.
 */
export async function benchCalibration(): Promise<Line[]> {
  const chain = dense(denseBlocks)
  const node = await startCannedNode(chain)
  node.release()
  try {
    const runs: { pulled: number; parsed: number }[] = []
    for (let run = 0; run < RUNS; run++)
      runs.push({ pulled: await pullAll(node.url), parsed: parseAll(await buildCannedFile(chain)) })
    const pulled = median(runs.map((run) => run.pulled))
    const parsed = median(runs.map((run) => run.parsed))
    return [
      {
        subject: 'calibration: dense chain, one thread',
        value: `pulled in ${pulled.toFixed(2)} s, JSON.parse ${parsed.toFixed(2)} s`,
        against: `${Math.round(node.bytes / 1e6 / parsed)} MB/s parsed`,
      },
    ]
  } finally {
    node.stop()
  }
}

async function pullAll(url: string): Promise<number> {
  const begun = performance.now()
  for (let from = 0; from < denseBlocks; from += BATCH_BLOCKS) {
    const count = Math.min(BATCH_BLOCKS, denseBlocks - from)
    const calls = Array.from({ length: count }, (_, k) => [
      { id: 2 * k, method: 'eth_getBlockByNumber', params: [`0x${(from + k).toString(16)}`, true] },
      { id: 2 * k + 1, method: 'eth_getBlockReceipts', params: [`0x${(from + k).toString(16)}`] },
    ])
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(calls.flat()) })
    await answer.arrayBuffer()
  }
  return (performance.now() - begun) / 1000
}

function parseAll(path: string): number {
  const chain = readCannedFile(path)
  const begun = performance.now()
  for (let number = 0; number < chain.blocks; number++) {
    JSON.parse(chain.block(number).toString('latin1'))
    JSON.parse(chain.receipts(number).toString('latin1'))
  }
  return (performance.now() - begun) / 1000
}

/**
 * Claim: making batches anew from the archive (re-derivation, and ClickHouse filled while the API
 * answers) leaves the event loop free. One process: the archive is read from memory as Postgres
 * would give it, decoding is the program's own pool. No database, no requests.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { BlockRange } from '#ingest/range.ts'
import { readArchive } from '#store/ledger/archive.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import { silentLogger } from '#telemetry.ts'
import { archiveBlock } from '#transform/decode/archive.ts'
import { createDecodePool } from '#transform/decode/decodePool.ts'
import { type ChainShape, cannedChain } from './cannedChain.ts'
import { type Line, measure } from './harness.ts'

const shape: ChainShape = { name: 'dense', blocks: 100, txsPerBlock: 50, logsPerTx: 2, extraDataBytes: 0 }
/** How often the chain is made anew in a run. */
const ROUNDS = 20
/** Blocks asked for at a time, as the ClickHouse lane does. */
const BLOCKS_AT_ONCE = 64

export async function benchArchive(): Promise<Line[]> {
  const archive = memoryArchive()
  const pool = createDecodePool({
    threads: 1,
    profile: { chainId: 4217, kind: 'tempo', headerRule: 'tempo', checks: 'roots' },
    log: silentLogger,
  })
  const fill = async () => {
    for (let from = 0; from < shape.blocks; ) {
      const raw = await readArchive(archive, 'bench', { from, to: lastOf(from) })
      from = (await pool.decode(raw)).range.to + 1
    }
  }
  await fill()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { wallSeconds, cpuSeconds } = await measure(async () => {
    for (let round = 0; round < ROUNDS; round++) await fill()
  })
  delay.disable()
  await pool.close()
  const txs = ROUNDS * shape.blocks * shape.txsPerBlock
  const ms = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(1)
  return [
    {
      subject: 'archive, batches made anew beside the event loop',
      value: `delay p50 ${ms(delay.percentile(50))}, p99 ${ms(delay.percentile(99))}, at most ${ms(delay.max)} ms`,
      against: `${Math.round(txs / wallSeconds).toLocaleString('en-US')} transactions/s, ${((cpuSeconds / txs) * 1e6).toFixed(1)} CPU us each`,
    },
  ]
}

const lastOf = (from: number): number => Math.min(from + BLOCKS_AT_ONCE, shape.blocks) - 1

/**
 * Answers the archive's two statements: chunks that are loading, of which there are none, and a
 * range's parts.
 */
function memoryArchive(): Queryable {
  const blocks = [...cannedChain(shape)].map(({ block, receipts }, number) =>
    archiveBlock({ number, block: JSON.parse(block), receipts: JSON.parse(receipts) }),
  )
  const partsOf = ({ from, to }: BlockRange) =>
    blocks
      .slice(from, to + 1)
      .flatMap((parts, k) =>
        parts.map((payload, part) => ({ block_num: from + k, part, payload: Buffer.from(payload) })),
      )
  const query = async (text: string, [from, to]: [number, number]) => {
    await new Promise(setImmediate)
    return { rows: text.includes('payload') ? partsOf({ from, to }) : [] }
  }
  return { query } as unknown as Queryable
}

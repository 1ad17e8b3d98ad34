/**
 * Claim: making batches anew from the archive (re-derivation, and ClickHouse filled while the API
 * answers) leaves the event loop free. First in one process: the archive is read from memory as
 * Postgres would give it, decoding is the program's own pool, with no database and no requests.
 * Then the whole program, whose ClickHouse was lost, under a hundred list requests a second.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { BlockRange } from '#ingest/range.ts'
import { readArchive } from '#store/ledger/archive.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import { silentLogger } from '#telemetry.ts'
import { archiveBlock } from '#transform/decode/archive.ts'
import { createDecodePool } from '#transform/decode/decodePool.ts'
import { type ChainShape, cannedChain } from './cannedChain.ts'
import { type Line, measure, startCannedNode } from './harness.ts'
import { loadOpen } from './lists/load.ts'
import { chainId, isQueryable, type RunningProgram, withProgram } from './program.ts'
import { dense, denseBlocks } from './shapes.ts'

const shape: ChainShape = { name: 'dense', blocks: 100, txsPerBlock: 50, logsPerTx: 2, extraDataBytes: 0 }
/** How often the chain is made anew in a run. */
const ROUNDS = 20
/** Blocks asked for at a time, as the ClickHouse lane does. */
const BLOCKS_AT_ONCE = 64

const REQUESTS_PER_SECOND = 100
const LOAD_SECONDS = 20

export async function benchArchive(): Promise<Line[]> {
  return [...(await benchInMemory()), ...(await benchBesideLists())]
}

async function benchInMemory(): Promise<Line[]> {
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

/** The same lists while ClickHouse is filled from the archive, and when it is full. */
async function benchBesideLists(): Promise<Line[]> {
  const node = await startCannedNode(dense(denseBlocks))
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  node.release()
  const run = (work: (program: RunningProgram) => Promise<Line[]>) =>
    withProgram(node, 'links', work, dataDir)
  try {
    await run(async (program) => {
      await program.until(() => isQueryable(program), 100)
      return []
    })
    rmSync(join(dataDir, 'clickhouse'), { recursive: true })
    return await run(async (program) => [
      await askLists(program, 'lists while ClickHouse is filled from the archive'),
      await whenReady(program, () => askLists(program, 'lists when it is full')),
    ])
  } finally {
    node.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function whenReady<Result>(program: RunningProgram, then: () => Promise<Result>): Promise<Result> {
  await program.until(() => isQueryable(program), 100)
  return then()
}

async function askLists(program: RunningProgram, subject: string): Promise<Line> {
  const paths = ['transfers', 'transactions', 'blocks', 'receipts'].flatMap((list) =>
    Array.from({ length: 25 }, (_, limit) => `/v1/${list}?chainId=${chainId}&limit=${limit + 10}`),
  )
  await eventLoopDelay(program)
  const load = { origin: program.address, paths, connections: 16, seconds: LOAD_SECONDS }
  const { p50, p99, max } = await loadOpen({ ...load, rate: REQUESTS_PER_SECOND })
  const filled = await filledBlocks(program)
  return {
    subject: `${subject}, ${REQUESTS_PER_SECOND} requests/s`,
    value: `event loop delay p99 ${await eventLoopDelay(program)} ms; requests p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, at most ${max.toFixed(0)} ms`,
    against: `ClickHouse at block ${filled} of ${denseBlocks - 1} afterwards`,
  }
}

/** Since it was read last: reading the metrics begins the count anew. */
async function eventLoopDelay({ address }: RunningProgram): Promise<string> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]
  return seconds === undefined ? 'unknown' : (Number(seconds) * 1000).toFixed(1)
}

async function filledBlocks({ address }: RunningProgram): Promise<string> {
  const status = await (await fetch(`${address}/status`)).text()
  return /"clickhouse":\{"tip":(\w+)/.exec(status)?.[1] ?? 'unknown'
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

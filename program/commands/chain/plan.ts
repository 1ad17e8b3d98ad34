/**
 * `millrace plan`: what a backfill will cost in calls, bytes, rows, disk and time, from a sample of
 * the chain itself.
 */

import { SettingError } from '#errors.ts'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { type BlockRange, blockCount } from '#ingest/range.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { samplePlaces } from '#ingest/sample.ts'
import type { RawRange } from '#ingest/source.ts'
import { findHolder } from '#local/engines/dataDir.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { DiskEstimate } from '#store/maintain/DiskEstimate.ts'
import type { Logger } from '#telemetry.ts'
import { byteSize, counted, grouped } from '#text/quantity.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { createDecodePool, type DecodePool } from '#transform/decode/decodePool.ts'
import { tableNames, tables } from '#transform/tables.ts'
import { learnRules } from '../../chain/chainRules.ts'
import { closeNodes, findChains, type ReachableChain, reachChain } from '../../chains.ts'
import type { Config } from '../../config.ts'
import { unlessInterrupted } from '../../process/stopSignal.ts'
import { rangeBelow } from './rangeBelow.ts'

export interface PlanArguments {
  /** Null: the first block of the chain's history, as the settings say. */
  readonly from: number | null
  /** Inclusive; null: up to what is final now. */
  readonly to: number | null
  /** The provider's price of a million calls, in any currency; null leaves the price out. */
  readonly pricePerMillion: number | null
  readonly json: boolean
}

/** Estimates for a range; all but `sampledBlocks` are of the whole of it. */
export interface Plan {
  readonly chainId: number
  readonly range: BlockRange
  readonly sampledBlocks: number
  readonly transactions: number
  readonly logs: number
  readonly calls: number
  readonly receivedBytes: number
  readonly rows: { readonly postgres: number; readonly clickhouse: number }
  /** On disk. */
  readonly bytes: { readonly postgres: number; readonly clickhouse: number }
  readonly seconds: number
  readonly price: number | null
  /** The part of the asked range that is left out; null if there is none. */
  readonly note: string | null
}

/** Sums over the sampled blocks. */
interface Sample {
  blocks: number
  calls: number
  receivedBytes: number
  transactions: number
  logs: number
  rows: { postgres: number; clickhouse: number }
  readonly disk: DiskEstimate
  fetchMs: number
  decodeMs: number
}

/**
 * Pieces of the sample; where blocks differ much from each other, more places help and longer ones
 * do not.
 */
const PLACES = 40
/**
 * Answers of a few blocks are as fast per byte as long ones, and a node gives them whatever its
 * limits are.
 */
const PLACE_BLOCKS = 4
/**
 * Rows that Postgres takes until they are queryable, on two cores: the dense chain of
 * bench/README.md had 1.1 million in 15.9 s, rounded down.
 */
const ROWS_PER_SECOND = 60_000
/** Requests in flight of a backfill, against one of the sample. */
const FETCHES_AT_ONCE = 6

/**
 * Prints the estimate for every chain of the settings; nothing is stored. @throws SettingError,
 * SourceError, InterruptedError
 */
export async function plan(
  config: Config,
  bounds: PlanArguments,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  const isDevChain = config.chains.some(({ rpcUrls }) => rpcUrls.length === 0)
  if (isDevChain && !findHolder(config.dataDir))
    throw new SettingError('RPC_URL', 'is needed: the chain to estimate for; no local dev chain runs')
  const chains: ReachableChain[] = []
  for (const found of await findChains(config, config.dataDir, runtime, log))
    chains.push(await reachChain(found, null, runtime, log))
  try {
    for (const chain of chains) {
      const estimate = await unlessInterrupted(stop, planChain(config, chain, bounds, runtime, log))
      process.stdout.write(`${bounds.json ? JSON.stringify(estimate) : textOf(estimate)}\n`)
    }
  } finally {
    for (const chain of chains) await closeNodes(chain)
  }
}

export async function planChain(
  config: Config,
  { chainId, kind, source, config: chain }: ReachableChain,
  bounds: PlanArguments,
  runtime: Runtime,
  log: Logger,
): Promise<Plan> {
  const { finalized } = await source.head()
  const asked = { from: bounds.from ?? chain.startBlock ?? 0, to: bounds.to ?? finalized }
  const { range, note } = rangeBelow(asked, finalized, 'the newest final block')
  const { headerRule, loose } = await learnRules(source, chainId, runtime.clock)
  const profile = { chainId, kind, headerRule, loose, checks: chain.checks }
  const pool = createDecodePool({ threads: config.workerThreads, profile, log })
  try {
    const sample = await takeSample(source, pool, range, runtime)
    return { ...estimateOf(chainId, range, sample, config.workerThreads, bounds.pricePerMillion), note }
  } finally {
    await pool.close()
  }
}

async function takeSample(
  source: RpcSource,
  pool: DecodePool,
  range: BlockRange,
  { clock }: Runtime,
): Promise<Sample> {
  const sample = emptySample()
  const before = costOf(source)
  const decode = async (raw: RawRange, signal?: AbortSignal) => {
    const startedMs = clock.monotonic()
    const batch = await pool.decode(raw, signal)
    sample.decodeMs += clock.monotonic() - startedMs
    return batch
  }
  // As a backfill asks: where lists of receipts fail, each receipt is a call, and costs one.
  const fetcher = { source, decode, failpoint: () => {}, lane: 'history' as const }
  const beganMs = clock.monotonic()
  for (const place of samplePlaces(range, PLACES, PLACE_BLOCKS))
    for (let from = place.from; from <= place.to; ) {
      const { batch } = await fetchVerified(fetcher, { from, to: place.to })
      addBatch(sample, batch)
      from = batch.range.to + 1
    }
  sample.fetchMs = clock.monotonic() - beganMs - sample.decodeMs
  const after = costOf(source)
  sample.calls = after.calls - before.calls
  sample.receivedBytes = after.receivedBytes - before.receivedBytes
  return sample
}

const emptySample = (): Sample => ({
  blocks: 0,
  calls: 0,
  receivedBytes: 0,
  transactions: 0,
  logs: 0,
  rows: { postgres: 0, clickhouse: 0 },
  disk: new DiskEstimate(),
  fetchMs: 0,
  decodeMs: 0,
})

function addBatch(sample: Sample, batch: EncodedBatch): void {
  sample.blocks += blockCount(batch.range)
  sample.transactions += batch.tables.txs.rowCount
  sample.logs += batch.tables.logs.rowCount
  sample.disk.add(batch.tables)
  for (const name of tableNames) {
    const { rowCount } = batch.tables[name]
    if (tables[name].stores !== 'clickhouse') sample.rows.postgres += rowCount
    if (tables[name].stores !== 'postgres') sample.rows.clickhouse += rowCount
  }
}

function costOf(source: RpcSource) {
  const costs = source.endpoints().map(({ cost }) => cost)
  const sum = (of: 'calls' | 'receivedBytes') => costs.reduce((all, cost) => all + cost[of], 0)
  return { calls: sum('calls'), receivedBytes: sum('receivedBytes') }
}

function estimateOf(
  chainId: number,
  range: BlockRange,
  sample: Sample,
  threads: number,
  pricePerMillion: number | null,
): Omit<Plan, 'note'> {
  const scale = blockCount(range) / sample.blocks
  const whole = (value: number) => Math.round(value * scale)
  const rows = { postgres: whole(sample.rows.postgres), clickhouse: whole(sample.rows.clickhouse) }
  const calls = whole(sample.calls)
  const bytes = sample.disk.bytes()
  // Fetching goes on beside the rest; decoding shares the machine with the stores.
  const fetchSeconds = (sample.fetchMs * scale) / 1000 / FETCHES_AT_ONCE
  const workSeconds = (sample.decodeMs * scale) / 1000 / threads + rows.postgres / ROWS_PER_SECOND
  return {
    chainId,
    range,
    sampledBlocks: sample.blocks,
    transactions: whole(sample.transactions),
    logs: whole(sample.logs),
    calls,
    receivedBytes: whole(sample.receivedBytes),
    rows,
    bytes: { postgres: whole(bytes.postgres), clickhouse: whole(bytes.clickhouse) },
    seconds: Math.ceil(Math.max(fetchSeconds, workSeconds)),
    price: pricePerMillion === null ? null : (calls / 1e6) * pricePerMillion,
  }
}

function textOf({ chainId, range, sampledBlocks, ...plan }: Plan): string {
  const lines = [
    ...(plan.note === null ? [] : [plan.note]),
    `chain ${chainId} blocks ${range.from} to ${range.to}, estimated from ${grouped(sampledBlocks)} of ${counted(blockCount(range), 'block')}:`,
    `  ${counted(plan.transactions, 'transaction')}, ${counted(plan.logs, 'log')}`,
    `  node: ${counted(plan.calls, 'call')}, ${byteSize(plan.receivedBytes)} received${plan.price === null ? '' : `, ${plan.price.toFixed(2)} to pay`}`,
    `  Postgres: ${counted(plan.rows.postgres, 'row')}, ${byteSize(plan.bytes.postgres)} on disk`,
    `  ClickHouse: ${counted(plan.rows.clickhouse, 'row')}, ${byteSize(plan.bytes.clickhouse)} on disk`,
    `  time: about ${durationOf(plan.seconds)}, with this node and this machine`,
  ]
  return lines.join('\n')
}

const durationOf = (seconds: number): string =>
  seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? counted(Math.round(seconds / 60), 'minute')
      : `${(seconds / 3_600).toFixed(1)} hours`

// Goal: what `plan` says of a range comes true within 30 %: calls, bytes, rows and disk.
// Method: the estimate is taken from a sample of a replayed recording, then the same program fills the range in engines of
// its own, and both are compared. Time is not: it is the machine's.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime.ts'
import { readHeldChain } from '#store/heldChains.ts'
import { silentLogger } from '#telemetry.ts'
import { tableNames, tables } from '#transform/tables.ts'
import { planChain } from '../../commands/plan.ts'
import { openProgram, type Program } from '../../commands/program.ts'
import { readConfig } from '../../config.ts'
import { type Replay, startReplay } from '../ingest/support/replay.ts'
import { describeWithShared, sharedPath } from '../support/shared.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const CHAIN = 4217
const range = { from: 300, to: 740 }

describeWithShared('a plan', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  let replay: Replay
  let program: Program

  beforeAll(async () => {
    const recording = sharedPath('chain', 'recordings', 'tempo-dev-30k')
    replay = await startReplay(
      '--shape',
      'tempo',
      '--recording',
      recording,
      '--head',
      '744',
      '--finality',
      '2',
    )
    const settings = { DATA_DIR: dataDir, RPC_URL: replay.url, START_BLOCK: String(range.from) }
    program = await openProgram(readConfig(settings), systemRuntime(), silentLogger)
  })
  afterAll(async () => {
    for (const chain of program?.chains ?? []) await chain.stop()
    await program?.close()
    await replay?.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const costOf = (source: RpcSource, of: 'calls' | 'receivedBytes') =>
    source.endpoints().reduce((sum, { cost }) => sum + cost[of], 0)

  async function rowsOf(names: readonly string[]): Promise<number> {
    const sums = names.map((name) => `(SELECT count(*) FROM chain_${CHAIN}.${name})`)
    const { rows } = await program.engines.postgres.pool.query<{ n: number }>(
      `SELECT ${sums.join(' + ')} AS n`,
    )
    return rows[0]?.n ?? 0
  }

  test('from a sample is within 30 % of what the backfill took', async () => {
    const [reachable, chain] = [program.reachable[0], program.chains[0]]
    if (!reachable || !chain) throw new Error('no chain was opened')
    const config = readConfig({ DATA_DIR: dataDir, RPC_URL: replay.url })
    const bounds = { ...range, pricePerMillion: 2, json: false }
    const plan = await planChain(config, reachable, bounds, systemRuntime(), silentLogger)
    expect(plan).toMatchObject({ chainId: CHAIN, range, sampledBlocks: 160 })
    expect(plan.price).toBeCloseTo((plan.calls / 1e6) * 2)
    expect(plan.seconds).toBeGreaterThan(0)

    const { source } = reachable
    const before = { calls: costOf(source, 'calls'), receivedBytes: costOf(source, 'receivedBytes') }
    await chain.fill(range, new AbortController().signal)
    const { postgres, clickhouse } = program.engines
    const held = await readHeldChain(postgres, clickhouse, CHAIN)
    // The head lane begins above the range and adds a few blocks of its own.
    const own = 441 / 445
    const analytics = tableNames.filter((name) => tables[name].stores === 'both')
    const ratios = {
      calls: plan.calls / (costOf(source, 'calls') - before.calls),
      receivedBytes: plan.receivedBytes / (costOf(source, 'receivedBytes') - before.receivedBytes),
      postgresRows: plan.rows.postgres / ((await rowsOf(tableNames)) * own),
      clickhouseRows: plan.rows.clickhouse / ((await rowsOf(analytics)) * own),
      postgresBytes: plan.bytes.postgres / ((held?.bytes.postgres ?? 0) * own),
      clickhouseBytes: plan.bytes.clickhouse / (held?.bytes.clickhouse ?? 0),
    }
    const off = Object.entries(ratios).filter(([, ratio]) => ratio < 0.7 || ratio > 1.3)
    expect(off).toEqual([])
  })
})

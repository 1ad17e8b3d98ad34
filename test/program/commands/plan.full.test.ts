// Goal: what `plan` says of a range comes true within 30 %: calls, bytes, rows and disk.
// Method: the estimate is taken from a sample of a chain, then the same program fills the range in
// engines of its own, and both are compared: for a replayed recording, and for a made chain in
// which every address, topic and hash is random, so that nothing repeats. Time is not compared: it
// is the machine's.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type BlockRange, blockCount } from '#ingest/range.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { planChain } from '#program/commands/chain/plan.ts'
import { readConfig } from '#program/config.ts'
import { openProgram, type Program } from '#program/program.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { readHeldChain } from '#store/maintain/heldChains.ts'
import { silentLogger } from '#telemetry.ts'
import { analyticsTableNames, ledgerTableNames } from '#transform/tables.ts'
import { startCannedNode } from '../../../bench/harness.ts'
import { dense } from '../../../bench/shapes.ts'
import { recordingPath } from '../../chain/recordings.ts'
import { startReplay } from '../../chain/startReplay.ts'
import { forward, startNode } from '../../ingest/support/proxyNode.ts'
import { freshDataDir, runMillrace } from '../support/millrace.ts'

const CHAIN = 4217
/** Latest and finalized. */
const CALLS_PER_HEAD = 2

/** A node of the chain, what to fill, and how many blocks of it a sample takes. */
interface Subject {
  readonly url: string
  readonly range: BlockRange
  readonly sampledBlocks: number
  readonly close: () => void
}

async function replayedSubject(): Promise<Subject> {
  const recording = recordingPath('tempo-dev-30k')
  const args = ['--shape', 'tempo', '--recording', recording, '--head', '744', '--finality', '2']
  const { url, close } = await startReplay(...args)
  return { url, range: { from: 300, to: 740 }, sampledBlocks: 160, close }
}

async function madeSubject(): Promise<Subject> {
  const node = await startCannedNode({ ...dense(400), name: 'plan' })
  node.release()
  return { url: node.url, range: { from: 0, to: 390 }, sampledBlocks: 160, close: node.stop }
}

describe('a plan for a recorded chain', () => comesTrue(replayedSubject))
describe('a plan for a chain without a repetition', () => comesTrue(madeSubject))

describe('a plan where one of two endpoints is dead', () => {
  test.each(['first', 'second'])('is made of the other, the %s being dead', async (place) => {
    const { url, close } = await replayedSubject()
    onTestFinished(close)
    const { path: DATA_DIR, remove } = freshDataDir()
    onTestFinished(remove)
    // Nothing listens on the port of `discard`.
    const dead = 'http://127.0.0.1:9/'
    const RPC_URL = (place === 'first' ? [dead, url] : [url, dead]).join(',')
    const args = ['plan', '--from', '300', '--to', '340', '--json']
    const { code, stdout, stderr } = await runMillrace(args, { DATA_DIR, RPC_URL })
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ chainId: CHAIN, sampledBlocks: 41 })
  })
})

test('a plan counts each receipt as a call where a node has no lists of them', async () => {
  const { url, close } = await replayedSubject()
  onTestFinished(close)
  const missing = { error: { code: -32601, message: 'the method does not exist' } }
  const node = await startNode({
    call: (call) => (call.method === 'eth_getBlockReceipts' ? missing : forward(url, call)),
  })
  onTestFinished(() => node.close())
  const { path: DATA_DIR, remove } = freshDataDir()
  onTestFinished(remove)
  const args = ['plan', '--from', '300', '--to', '340', '--price', '2', '--json']
  const { stdout, stderr } = await runMillrace(args, { DATA_DIR, RPC_URL: node.url })
  const { calls, price, transactions, sampledBlocks } = JSON.parse(stdout || JSON.stringify(stderr))
  expect([sampledBlocks, transactions > 41]).toEqual([41, true])
  // Each block with its transactions and with their hashes, then each receipt.
  expect(calls / (2 * sampledBlocks + transactions)).toBeCloseTo(1, 1)
  expect(price).toBe((calls / 1e6) * 2)
})

function comesTrue(openSubject: () => Promise<Subject>): void {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  let subject: Subject
  let program: Program

  beforeAll(async () => {
    subject = await openSubject()
    const settings = { DATA_DIR: dataDir, RPC_URL: subject.url, START_BLOCK: String(subject.range.from) }
    program = await openProgram(readConfig(settings), systemRuntime(), silentLogger)
  })
  afterAll(async () => {
    for (const chain of program?.chains ?? []) await chain.stop()
    await program?.close()
    subject?.close()
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
    const { url, range, sampledBlocks } = subject
    const config = readConfig({ DATA_DIR: dataDir, RPC_URL: url })
    const bounds = { ...range, pricePerMillion: 2, json: false }
    const plan = await planChain(config, reachable, bounds, systemRuntime(), silentLogger)
    expect(plan).toMatchObject({ chainId: CHAIN, range, sampledBlocks })
    expect(plan.price).toBeCloseTo((plan.calls / 1e6) * 2)
    expect(plan.seconds).toBeGreaterThan(0)

    const { source } = reachable
    const before = { calls: costOf(source, 'calls'), receivedBytes: costOf(source, 'receivedBytes') }
    const requests = vi.spyOn(Pool.prototype, 'dispatch')
    await chain.fill(() => range, new AbortController().signal)
    // The head is asked for beside it, as long as it takes.
    const asked = requests.mock.calls.filter(([{ body }]) => String(body).includes('"latest"')).length
    const filling = costOf(source, 'calls') - before.calls - asked * CALLS_PER_HEAD
    const { postgres, clickhouse } = program.engines
    const held = await readHeldChain(postgres, clickhouse, CHAIN)
    // The head lane begins above the range and adds a few blocks of its own.
    const own = blockCount(range) / (blockCount(range) + 4)
    const ratios = {
      calls: plan.calls / filling,
      receivedBytes: plan.receivedBytes / (costOf(source, 'receivedBytes') - before.receivedBytes),
      postgresRows: plan.rows.postgres / ((await rowsOf(ledgerTableNames)) * own),
      clickhouseRows: plan.rows.clickhouse / ((await rowsOf(analyticsTableNames)) * own),
      postgresBytes: plan.bytes.postgres / ((held?.bytes.postgres ?? 0) * own),
      clickhouseBytes: plan.bytes.clickhouse / (held?.bytes.clickhouse ?? 0),
    }
    const off = Object.entries(ratios).filter(([, ratio]) => ratio < 0.7 || ratio > 1.3)
    expect(off).toEqual([])
  })
}

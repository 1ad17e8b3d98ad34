// Goal: filters of JSON-RPC are told by any process (API-13): over two programs on one Postgres, of
// which the one that writes is killed, and a reorganization of depth 12, what was told equals the
// chain, each log once. Method: real processes on engines of this file; the oracle is the node.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedClickHouse, startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { type EmbeddedPostgres, startPostgres } from '#local/engines/postgres/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { chainOf, type RunningMillrace, startMillrace, until } from '../support/millrace.ts'

const CHAIN = 42431
const BEGIN = 60
const DEPTH = 12
const hex = (value: number) => `0x${value.toString(16)}`

interface Log {
  readonly blockNumber: string
  readonly blockHash: string
  readonly logIndex: string
  readonly removed: boolean
}
const keyOf = (log: Log) => `${log.blockHash} ${Number(log.blockNumber)} ${Number(log.logIndex)}`

describe('filters over two programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  let postgres: EmbeddedPostgres
  let clickhouse: EmbeddedClickHouse
  let replay: Replay
  const programs: RunningMillrace[] = []

  beforeAll(async () => {
    const engines = join(folder, 'engines')
    postgres = await startPostgres({ dataDir: engines, log: silentLogger })
    clickhouse = await startClickHouse({
      dataDir: engines,
      readerGrants: [`chain_${CHAIN}_sql.*`],
      log: silentLogger,
    })
    replay = await startReplay('--shape', 'tempo', '--head', String(BEGIN), '--finality', '30')
    // The first one writes: the second finds the lease taken.
    for (const name of ['first', 'second']) programs.push(await startMillrace(environmentOf(name)))
    for (const program of programs) await held(program, BEGIN)
  })
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.stop()))
    await replay?.close()
    await clickhouse?.stop()
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  function environmentOf(name: string) {
    const withLogin = (username: string, password: string) => {
      const url = new URL(clickhouse.url)
      url.username = username
      url.password = password
      return url.href
    }
    return {
      DATA_DIR: join(folder, name),
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: withLogin(clickhouse.username, clickhouse.password),
      CLICKHOUSE_READER_URL: withLogin(clickhouse.readerUsername, clickhouse.readerPassword),
      RPC_URL: replay.url,
      VERIFY: 'links',
      WORKER_THREADS: '1',
      LEASE_SECONDS: '5',
    }
  }
  const held = (program: RunningMillrace, tip: number) =>
    until(async () => (await chainOf(program, CHAIN)).stores.postgres.tip === tip)

  let turn = 0
  async function call<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const program = programs[turn++ % programs.length]
    const answer = await fetch(`${program?.origin}/rpc/${CHAIN}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error }: { result: Result; error?: unknown } = JSON.parse(await answer.text())
    expect([method, error]).toEqual([method, undefined])
    return result
  }

  test('tell what the node says, each log once, through a kill and a reorganization', async () => {
    const token = '0x20c0000000000000000000000000000000000000'
    const filters = [{}, { address: token }]
    const told = await Promise.all(
      filters.map(async (filter) => ({
        filter,
        id: await call<string>('eth_newFilter', filter),
        seen: new Map<string, Log>(),
      })),
    )
    const poll = async () => {
      for (const { id, seen } of told)
        for (const log of await call<Log[]>('eth_getFilterChanges', id)) {
          expect(seen.has(keyOf(log))).toBe(log.removed)
          if (log.removed) seen.delete(keyOf(log))
          else seen.set(keyOf(log), log)
        }
    }
    const equalsTheNode = async (tip: number) => {
      for (const { filter, seen } of told) {
        const asked = { ...filter, fromBlock: hex(BEGIN + 1), toBlock: hex(tip) }
        const logs = (await replay.control('eth_getLogs', asked)) as Log[]
        expect(logs.length).toBeGreaterThan(0)
        expect([...seen.keys()].sort()).toEqual(logs.map(keyOf).sort())
      }
    }
    await replay.control('replay_advance', 20)
    const arrive = async (tip: number) => {
      for (const program of programs) {
        while ((await chainOf(program, CHAIN)).stores.postgres.tip !== tip) await poll()
      }
      await poll()
      await poll()
    }
    await arrive(BEGIN + 20)
    await equalsTheNode(BEGIN + 20)

    // The writer dies with blocks on their way; filters it made go on at the other.
    await replay.control('replay_advance', 5)
    const [writer] = programs.splice(0, 1)
    await writer?.kill()
    await arrive(BEGIN + 25)
    await equalsTheNode(BEGIN + 25)

    await replay.control('replay_reorg', DEPTH)
    await replay.control('replay_advance', 3)
    programs.push(await startMillrace(environmentOf('third')))
    await arrive(BEGIN + 28)
    await equalsTheNode(BEGIN + 28)
  })
})

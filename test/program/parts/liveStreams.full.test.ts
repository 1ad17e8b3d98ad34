// Goal: whatever happens to the chain, the program and the connection, a client that applies its
// live stream holds what the query answers when asked anew, on both engines. Method: the whole
// program on a recorded chain that grows when told; a reorg of five blocks, readers that take
// nothing for megabytes, readers that stay away for more than a stream catches up, and kill -9 with
// a restart on the same directory.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { type Asked, FoldingClient } from '../support/foldingClient.ts'
import {
  blockIndexed,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const engines = ['postgres', 'clickhouse'] as const
/** Blocks the node holds back from being final; deeper than the reorgs. */
const FINALITY = 8
const REORG = 5
/** Frames of up to 300 kB: more than a kernel keeps for a reader that does not read. */
const STALLED_BLOCKS = 30
/** More than a stream catches up. */
const AWAY_BLOCKS = 1_010

const perBlock = `SELECT b.num, b.hash, count(l.log_idx) AS logs, max(l.log_idx) AS last
  FROM blocks b LEFT JOIN logs l ON l.block_num = b.num GROUP BY b.num, b.hash`
const padded = (
  characters: number,
) => `SELECT b.num, b.hash, l.log_idx, '${'x'.repeat(characters)}' AS padding
  FROM blocks b JOIN logs l ON l.block_num = b.num WHERE l.log_idx < 5`
const narrow = { sql: perBlock, anew: perBlock }
const wide = { sql: padded(60_000), anew: padded(80) }

describe('live streams', () => {
  const dataDir = freshDataDir(42431)
  let replay: Replay
  let program: RunningMillrace
  let env: Record<string, string>
  let head = 40
  const clients: FoldingClient[] = []

  beforeAll(async () => {
    const length = ['--head', `${head}`, '--finality', `${FINALITY}`, '--repeat', '20']
    replay = await startReplay('--shape', 'tempo', ...length)
    env = { DATA_DIR: dataDir.path, RPC_URL: replay.url, VERIFY: 'links' }
    program = await startMillrace(env)
    await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  })
  afterAll(async () => {
    for (const client of clients) await client.leave()
    await program?.stop()
    await replay?.close()
    dataDir.remove()
  })

  async function join(asked: Asked): Promise<FoldingClient> {
    const client = new FoldingClient(() => program.origin, asked)
    clients.push(client)
    await client.join()
    return client
  }

  async function advance(blocks: number): Promise<void> {
    await replay.control('replay_advance', blocks)
    head += blocks
  }

  async function nodeHash(number: number): Promise<string> {
    const block = await replay.control('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    return Object(block).hash
  }

  /** Newest block a stream of the engine comes to while the chain stands still. */
  const newest = { postgres: () => head, clickhouse: () => head - FINALITY }

  async function assertFolds(engine: Asked['engine'], client: FoldingClient): Promise<void> {
    const last = newest[engine]()
    await client.holds(last, await nodeHash(last))
    const fresh = [...(await client.fresh())].filter(([num]) => num > client.begins)
    // A block on which the query has no rows is told, and is in no answer.
    const held = [...client.held].filter(([, { rows }]) => rows.length > 0)
    expect(sorted(held)).toEqual(sorted(fresh))
    expect(fresh.length).toBeGreaterThan(0)
  }

  test('a reorg of five blocks is retracted and told anew', async () => {
    for (const engine of engines) {
      await join({ engine, ...narrow })
      await join({ engine, ...wide })
    }
    await advance(REORG + 3)
    for (const client of clients.slice(0, 2)) await client.holds(head, await nodeHash(head))
    await replay.control('replay_reorg', REORG)
    await advance(2)
    for (const [index, client] of clients.entries()) await assertFolds(engineOf(index), client)
    expect(clients.map(({ retracted }) => retracted)).toEqual([REORG, REORG, 0, 0])
    expect(clients.map(({ lagged }) => lagged)).toEqual([0, 0, 0, 0])
  })

  test('readers that stall go on where they stopped reading, and hold nobody up', async () => {
    const stalled = clients.filter((_, index) => index % 2 === 1)
    for (const client of stalled) client.stall()
    // They ask the same and read: when they have every frame, those who stall could have had it
    // too.
    const reading = await Promise.all(engines.map((engine) => join({ engine, ...wide })))
    await advance(STALLED_BLOCKS)
    for (const [index, client] of reading.entries()) await assertFolds(engineOf(2 * index), client)
    for (const client of clients.splice(4)) await client.leave()
    for (const client of stalled) client.proceed()
    for (const [index, client] of clients.entries()) await assertFolds(engineOf(index), client)
    expect(clients.map(({ lagged }) => lagged)).toEqual([0, 0, 0, 0])
    expect(program.stderr()).not.toContain('"bufferFull"')
  })

  test('who stays away for too long is told from where to ask again, orphaned blocks included', async () => {
    for (const client of clients) await client.leave()
    const retracted = clients.map((client) => client.retracted)
    await replay.control('replay_reorg', REORG)
    await advance(AWAY_BLOCKS)
    await blockIndexed(program, head)
    await until(
      async () =>
        Object((await get(`${program.origin}/status`)).body).chains[0].stores.clickhouse.tip ===
        newest.clickhouse(),
    )
    for (const client of clients) await client.join()
    await advance(2)
    for (const [index, client] of clients.entries()) await assertFolds(engineOf(index), client)
    expect(clients.map(({ lagged }) => lagged)).toEqual([1, 1, 1, 1])
    expect(clients.map((client) => client.retracted)).toEqual(retracted)
  })

  test('kill -9, a reorg meanwhile, and a restart leave no gap and no repeat', async () => {
    await advance(REORG + 1)
    await program.kill()
    await replay.control('replay_reorg', REORG)
    await advance(3)
    program = await startMillrace(env)
    await advance(2)
    for (const [index, client] of clients.entries()) await assertFolds(engineOf(index), client)
    expect(clients.map(({ lagged }) => lagged)).toEqual([1, 1, 1, 1])
  })
})

const engineOf = (index: number): Asked['engine'] => (index < 2 ? 'postgres' : 'clickhouse')

const sorted = (
  blocks: readonly (readonly [number, { readonly hash: string; readonly rows: readonly string[] }])[],
) =>
  blocks.map(([num, { hash, rows }]) => ({ num, hash, rows: [...rows].sort() })).sort((a, b) => a.num - b.num)

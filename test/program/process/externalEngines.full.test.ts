// Goal: databases of one's own, and nodes that are not what they should be: work goes on or is
// refused by name.
// Method: the engines of the run act as external ones; a small proxy before the replay server
// shapes the node. One file, because the databases of chain 4217 in ClickHouse are shared: every
// test drops them and takes a fresh Postgres.
import { readdirSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recordingPath } from '../../chain/recordings.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  type FakeNode,
  forward,
  type NodeAnswer,
  type NodeCall,
  startNode,
} from '../../ingest/support/proxyNode.ts'
import { clientOf } from '../../local/engines/clients.ts'
import { freshDatabase } from '../../support/engines.ts'
import {
  blockIndexed,
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  statusOf,
  until,
} from '../support/millrace.ts'

const CHAIN = 4217
const HEAD = 60

describe('databases of one’s own', () => {
  let replay: Replay
  let node: FakeNode
  let program: RunningMillrace | undefined
  let dataDir: ReturnType<typeof freshDataDir>
  let env: Record<string, string>
  /** The node's answer in place of the replay server; undefined passes the call on. */
  let shape: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer> | undefined

  beforeAll(async () => {
    const recording = recordingPath('tempo-dev-30k')
    replay = await startReplay(
      '--shape',
      'tempo',
      '--recording',
      recording,
      '--head',
      String(HEAD),
      '--finality',
      '2',
    )
    node = await startNode({ call: async (call) => (await shape(call)) ?? forward(replay.url, call) })
  })
  afterAll(async () => {
    await node?.close()
    await replay?.close()
  })
  beforeEach(async () => {
    shape = () => undefined
    dataDir = freshDataDir()
    const access = await freshDatabase()
    const clickhouse = clientOf(access.clickhouseUrl, access.clickhouseUsername, access.clickhousePassword)
    for (const name of [`chain_${CHAIN}`, `chain_${CHAIN}_sql`])
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${name}` })
    await clickhouse.close()
    const clickhouseUrl = new URL(access.clickhouseUrl)
    clickhouseUrl.username = access.clickhouseUsername
    clickhouseUrl.password = access.clickhousePassword
    const readerUrl = new URL(clickhouseUrl)
    readerUrl.username = access.readerUsername
    readerUrl.password = access.readerPassword
    env = {
      DATA_DIR: dataDir.path,
      PORT: '0',
      RPC_URL: node.url,
      DATABASE_URL: access.databaseUrl,
      CLICKHOUSE_URL: clickhouseUrl.href,
      CLICKHOUSE_READER_URL: readerUrl.href,
    }
  })
  afterEach(async () => {
    await program?.stop()
    program = undefined
    dataDir.remove()
  })

  const start = async () => {
    program = await startMillrace(env)
    return program
  }
  const ready = (running: RunningMillrace) =>
    until(async () => (await get(`${running.origin}/ready`)).status === 200)
  const refusal = async (changes: Record<string, string> = {}) => {
    const { code, stderr } = await runMillrace(['up'], { ...env, ...changes })
    expect(code).toBe(1)
    return stderr.trimEnd().split('\n').at(-1) ?? ''
  }

  test('are used instead of embedded ones; a node without eth_getBlockReceipts works, and is told of', async () => {
    shape = ({ method }) =>
      method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'method not found' } } : undefined
    const running = await start()
    await ready(running)
    expect((await statusOf(running)).notes.join('\n')).toMatch(/eth_getBlockReceipts/)
    expect(readdirSync(dataDir.path)).not.toContain('postgres')
    expect(readdirSync(dataDir.path)).not.toContain('clickhouse')
    expect(await runMillrace(['verify'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('agreed'),
    })
    expect(await running.stop()).toMatchObject({ code: 0 })
  })

  test('keep what they hold when another chain, or a newer program’s migration, is refused', async () => {
    const range = ['backfill', '--from', '0', '--to', '20']
    expect(await runMillrace(range, env)).toMatchObject({ code: 0 })

    shape = async (call) => {
      if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== '0x0') return forward(replay.url, call)
      const answer = Object(await forward(replay.url, call))
      return { result: { ...answer.result, hash: `0x${'ab'.repeat(32)}` } }
    }
    expect(await refusal()).toMatch(/^millrace: RPC_URL: .* genesis .*DATA_DIR or DATABASE_URL/)
    shape = () => undefined

    const client = new Client({ connectionString: env['DATABASE_URL'] })
    await client.connect()
    await client.query(
      `INSERT INTO app.migrations (scope, number, name, checksum) VALUES ('app', 9999, 'later', 'x')`,
    )
    expect(await refusal()).toMatch(/^millrace: DATABASE_URL: .*9999_later.*newer version/)
    await client.query('DELETE FROM app.migrations WHERE number = 9999')
    await client.end()

    const verified = await runMillrace(['verify', '--from', '0', '--to', '20'], env)
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Postgres 21, ClickHouse 21 blocks'),
    })
  })

  test('that do not answer, or refuse the password, are named', async () => {
    const wrongPassword = new URL(env['CLICKHOUSE_URL'] ?? '')
    wrongPassword.password = 'wrong'
    const postgres = await refusal({ DATABASE_URL: 'postgres://u:secret-key@127.0.0.1:1/d' })
    expect(postgres).toMatch(/^millrace: DATABASE_URL: .*ECONNREFUSED/)
    expect(postgres).not.toContain('secret-key')
    expect(await refusal({ CLICKHOUSE_URL: 'http://127.0.0.1:1' })).toMatch(/^millrace: CLICKHOUSE_URL: /)
    expect(await refusal({ CLICKHOUSE_URL: wrongPassword.href })).toMatch(/^millrace: CLICKHOUSE_URL: /)
  })

  test('a node that prunes history is told with START_BLOCK, and the head lane goes on', async () => {
    const oldest = 30
    const pruned = { error: { code: 4444, message: 'pruned history unavailable' } }
    shape = async (call) => {
      if (call.method === 'eth_getBlockReceipts' && Number(call.params[0]) < oldest) return pruned
      const answer = Object(await forward(replay.url, call))
      const isOld = Number(answer.result?.blockNumber ?? oldest) < oldest
      return call.method === 'eth_getTransactionReceipt' && isOld ? pruned : answer
    }
    const running = await start()
    await until(async () =>
      (await chainOf(running, CHAIN)).lanes.some(({ problem }) => /START_BLOCK/.test(problem ?? '')),
    )
    await replay.control('replay_advance', 3)
    await blockIndexed(running, HEAD + 3)
    expect((await get(`${running.origin}/health`)).status).toBe(200)
  })
})

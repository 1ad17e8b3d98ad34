// Goal: a recorded chain is indexed by a backfill and by a start, and `verify` tells one changed
// byte.
// Method: the commands of the program in processes of their own on one data directory; the node is
// the replay server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  chainOf,
  freshDataDir,
  get,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'

describe('a recorded chain', () => {
  const dataDir = freshDataDir(42431)
  const LAST = 122
  let replay: Replay
  let env: Record<string, string>
  let program: RunningMillrace | undefined

  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo')
    env = { DATA_DIR: dataDir.path, RPC_URL: replay.url }
  })
  afterAll(async () => {
    await program?.stop()
    await replay?.close()
    dataDir.remove()
  })

  test('a backfill of a range fills both stores of an empty directory, and a second one finds nothing to do', async () => {
    const range = ['backfill', '--from', '0', '--to', '60']
    const first = await runMillrace(range, env)
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('both stores hold blocks 0 to 60'),
    })
    expect(await runMillrace(range, env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('both stores hold'),
    })
    const verified = await runMillrace(['verify', '--from', '0', '--to', '60'], env)
    expect(verified).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Postgres 61, ClickHouse 61 blocks'),
    })
  })

  test('a start indexes the rest, and every block of it is compared beside it', async () => {
    program = await startMillrace(env)
    const { origin } = program
    await until(async () => (await get(`${origin}/ready`)).status === 200)
    expect(await chainOf(program, 42431)).toMatchObject({
      head: LAST,
      coverage: [{ from: 0, to: LAST }],
      stores: { clickhouse: { coverage: [{ from: 0, to: LAST }] } },
    })
    const { code, stdout } = await runMillrace(['verify'], env)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^chain 42431 blocks 0 to 122: agreed \(Postgres 123, ClickHouse 123 blocks/,
      ),
    })
  })

  test('one changed byte in Postgres is told by table and block, with exit code 1', async () => {
    const { databaseUrl }: { databaseUrl: string } = JSON.parse(
      readFileSync(join(dataDir.path, 'connection.json'), 'utf8'),
    )
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    const flip = `UPDATE chain_42431.logs SET address = set_byte(address, 0, get_byte(address, 0) # 1)
      WHERE (block_num, log_idx) = (SELECT block_num, log_idx FROM chain_42431.logs ORDER BY 1 DESC, 2 LIMIT 1)
      RETURNING block_num`
    const { rows } = await client.query<{ block_num: number }>(flip)
    await client.end()
    const { code, stdout } = await runMillrace(['verify'], env)
    expect(code).toBe(1)
    expect(stdout).toContain(`postgres logs block ${rows[0]?.block_num}: other content than the node says`)
    expect(stdout).toMatch(/: 1 difference \(/)
  })
})

// Goal: what is held is changed without a node: rows made anew, a chain taken back or given up, and
// the next run goes on.
// Method: the commands in processes of their own on one data directory, filled from a replayed
// recording that is gone while they run.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { freshDataDir, runMillrace } from '../support/millrace.ts'

describe('commands on what is held', () => {
  const dataDir = freshDataDir(42431)
  const LAST = 122
  let replay: Replay
  /** Without a node. */
  const offline = { DATA_DIR: dataDir.path, RPC_URL: 'http://127.0.0.1:1' }
  const online = () => ({ ...offline, RPC_URL: replay.url })
  const run = (...args: string[]) => runMillrace(args, offline)
  const held = async () => JSON.parse((await run('chains', 'list', '--json')).stdout)
  const fill = () => runMillrace(['backfill', '--from', '0', '--to', String(LAST)], online())

  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo')
    expect(await fill()).toMatchObject({ code: 0 })
  })
  afterAll(async () => {
    await replay?.close()
    dataDir.remove()
  })

  test('chains list tells blocks and bytes of each store', async () => {
    expect(await held()).toEqual([
      expect.objectContaining({
        chainId: 42431,
        tip: LAST,
        coverage: { postgres: [{ from: 0, to: LAST }], clickhouse: [{ from: 0, to: LAST }] },
        bytes: { postgres: expect.any(Number), clickhouse: expect.any(Number) },
      }),
    ])
    expect((await run('chains', 'list')).stdout).toMatch(
      /^chain 42431 from block 0 to 122: Postgres 123 blocks in [\d.]+ [kMG]B, ClickHouse 123 blocks in [\d.]+ [kMG]B\n$/,
    )
  })

  test('rederive has nothing to do, or makes everything anew', async () => {
    expect(await run('rederive')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing was made by other rules'),
    })
    expect(await run('rederive', '--all', '--chain', '42431')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /made anew: base, token_transfers.* \(Postgres 123 blocks, ClickHouse 123 blocks\)\n$/,
      ),
    })
    expect(await runMillrace(['verify'], online())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('agreed (Postgres 123, ClickHouse 123 blocks compared'),
    })
  })

  test('rewind takes back final blocks only when told to, and the next run goes on', async () => {
    const refused = await run('rewind', '--to', '50')
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^millrace: --to: block 50 .*--below-finalized/m),
    })
    expect(await run('rewind', '--to', '50', '--below-finalized')).toMatchObject({
      code: 0,
      stdout: 'chain 42431 took back blocks 51 to 122; the next start goes on from block 50\n',
    })
    const [chain] = await held()
    const rest = [{ from: 0, to: 50 }]
    expect(chain).toMatchObject({ tip: 50, finalized: 50, coverage: { postgres: rest, clickhouse: rest } })
    expect(await fill()).toMatchObject({ code: 0 })
    expect(await runMillrace(['verify'], online())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('agreed (Postgres 123, ClickHouse 123 blocks compared'),
    })
  })

  test('wrong arguments are told by name', async () => {
    expect((await run('rewind')).stderr).toMatch(/^millrace: --to: is needed/m)
    expect((await run('rewind', '--to', '5', '--chain', '1')).stderr).toMatch(
      /^millrace: --chain: chain 1 is not held here; held are 42431/m,
    )
    expect((await run('chains', 'remove', 'x')).stderr).toMatch(/^millrace: id: `x` is not a chain id/m)
  })

  test('chains remove drops a chain when it is confirmed', async () => {
    const unconfirmed = await run('chains', 'remove', '42431')
    expect(unconfirmed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^millrace: --yes: is needed to drop chain 42431/m),
    })
    expect(await held()).toHaveLength(1)
    expect(await run('chains', 'remove', '42431', '--yes')).toMatchObject({ code: 0 })
    expect((await run('chains', 'list')).stdout).toBe('no chain is held\n')
  })
})

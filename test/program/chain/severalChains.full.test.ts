// Goal: several chains of a CONFIG file in one program, told apart by `chainId`.
// Method: two replay servers, embedded engines; of the larger recording only the newest blocks are
// history. Then startBlock of one chain changes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordingPath } from '../../chain/recordings.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import {
  freshDataDir,
  get,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  statusOf,
  until,
} from '../support/millrace.ts'

describe('mainnet and testnet in one program', () => {
  const dataDir = freshDataDir()
  const replays: Replay[] = []
  let program: RunningMillrace | undefined
  let origin = ''

  beforeAll(async () => {
    const mainnet = recordingPath('tempo-dev-30k')
    replays.push(
      await startReplay('--shape', 'tempo', '--recording', mainnet, '--head', '60'),
      await startReplay('--shape', 'tempo'),
    )
    program = await startMillrace(settingsFrom(100))
    origin = program.origin
  })
  /** Settings under which the testnet begins at a block. */
  function settingsFrom(startBlock: number) {
    const chains = [4217, 42431].map((chainId, index) => ({
      chainId,
      rpcUrls: [replays[index]?.url],
      startBlock: chainId === 4217 ? 0 : startBlock,
    }))
    const CONFIG = join(dataDir.path, 'chains.json')
    writeFileSync(CONFIG, JSON.stringify({ chains }))
    return { DATA_DIR: dataDir.path, CONFIG }
  }
  afterAll(async () => {
    await program?.stop()
    for (const replay of replays) await replay.close()
    dataDir.remove()
  })

  test('both are indexed to their heads, each from its own first block', async () => {
    await until(async () => (await get(`${origin}/ready`)).status === 200)
    if (!program) throw new Error('it did not start')
    const { chains } = await statusOf(program)
    expect(chains.map(({ chainId, coverage }) => ({ chainId, coverage }))).toEqual([
      { chainId: 4217, coverage: [{ from: 0, to: 60 }] },
      { chainId: 42431, coverage: [{ from: 100, to: 122 }] },
    ])
  })

  test('the chainId parameter picks; without it, mainnet answers', async () => {
    const newest = async (query: string) =>
      Object((await get(`${origin}/v1/blocks${query}`)).body).data?.[0]?.number
    expect(await newest('')).toBe(60)
    expect(await newest('?chainId=4217')).toBe(60)
    expect(await newest('?chainId=42431')).toBe(122)
    expect((await get(`${origin}/v1/blocks?chainId=1`)).status).toBeGreaterThanOrEqual(400)
  })

  test('a later startBlock than is held is refused, an earlier one fills what lies between', async () => {
    await program?.stop()
    const { code, stderr } = await runMillrace(['up'], { PORT: '0', ...settingsFrom(110) })
    expect(code).toBe(1)
    expect(stderr).toContain(
      'CONFIG, startBlock of chain 42431: is 110, but chain 42431 is held from block 100 on',
    )
    const running = await startMillrace(settingsFrom(0))
    program = running
    await until(async () => (await get(`${running.origin}/ready`)).status === 200)
    const [, testnet] = (await statusOf(running)).chains
    expect(testnet).toMatchObject({ startBlock: 0, coverage: [{ from: 0, to: 122 }] })
    const verified = await runMillrace(['verify', '--chain', '42431'], {
      DATA_DIR: dataDir.path,
      CONFIG: join(dataDir.path, 'chains.json'),
    })
    expect(verified.stdout).toContain('Postgres 123, ClickHouse 123 blocks')
  })
})

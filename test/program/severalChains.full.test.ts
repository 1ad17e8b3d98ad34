// Goal: several chains of a CONFIG file in one program, told apart by `chainId`.
// Method: two replay servers, embedded engines; of the larger recording only the newest blocks are
// history.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordingPath } from '../chain/recordings.ts'
import { type Replay, startReplay } from '../chain/startReplay.ts'
import {
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  statusOf,
  until,
} from './support/millrace.ts'

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
    const chains = [4217, 42431].map((chainId, index) => ({
      chainId,
      rpcUrls: [replays[index]?.url],
      startBlock: chainId === 4217 ? 0 : 100,
    }))
    const CONFIG = join(dataDir.path, 'chains.json')
    writeFileSync(CONFIG, JSON.stringify({ chains }))
    program = await startMillrace({ DATA_DIR: dataDir.path, CONFIG })
    origin = program.origin
  })
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
})

// Goal: an export of a million rows takes the program no more memory than one of a tenth, on both
// engines (19.10).
// Method: the whole program on a recorded chain; some 250 bytes a row are read and thrown away,
// while its resident memory is looked at.
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Replay, startReplay } from '../ingest/support/replay.ts'
import { describeWithShared } from '../support/shared.ts'
import { residentBytes } from './support/growingProgram.ts'
import { freshDataDir, get, type RunningMillrace, startMillrace, until } from './support/millrace.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const FEW = 100_000
const MANY = 1_000_000
/** The larger export's text has over 200 MB; a program that held it would grow by more. */
const GROWTH_BYTES_MAX = 150_000_000
const sql = `SELECT a.num, b.num AS other, a.hash, b.hash AS other_hash, a.parent_hash
  FROM blocks a CROSS JOIN blocks b CROSS JOIN blocks c`

describeWithShared('memory of exports', () => {
  const dataDir = freshDataDir()
  let replay: Replay
  let program: RunningMillrace
  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo', '--head', '110', '--finality', '1')
    program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: replay.url, VERIFY: 'links' })
    await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  })
  afterAll(async () => {
    await program?.stop()
    await replay?.close()
    dataDir.remove()
  })

  async function peakOf(engine: string, format: string, limit: number): Promise<number> {
    const query = new URLSearchParams({ sql, engine, format, limit: `${limit}` })
    const answer = await fetch(`${program.origin}/v1/indexer/query?${query}`)
    expect(answer.status).toBe(200)
    const read = { bytes: 0, isOver: false }
    const reading = (async () => {
      for await (const piece of answer.body ?? []) read.bytes += piece.length
      read.isOver = true
    })()
    let peak = 0
    for (; !read.isOver; await setTimeout(20)) peak = Math.max(peak, residentBytes(program.pid))
    await reading
    if (format === 'csv') expect(read.bytes).toBeGreaterThan(limit * 200)
    return peak
  }

  test.each([
    ['postgres', 'csv'],
    ['clickhouse', 'arrow'],
  ])('%s, %s', async (engine, format) => {
    // The first ones also warm the program up.
    await peakOf(engine, format, 3 * FEW)
    const few = await peakOf(engine, format, FEW)
    const many = await peakOf(engine, format, MANY)
    expect(many - few).toBeLessThan(GROWTH_BYTES_MAX)
  })
})

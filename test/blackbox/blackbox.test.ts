// Goal: the program as users run it keeps the whole contract, and every command of the README works as it stands there.
// Method: the black box that anybody may point at a deployment, and a shell, against the program on a recorded chain.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Replay, startReplay } from '../ingest/support/replay.ts'
import { freshDataDir, get, type RunningMillrace, startMillrace, until } from '../program/support/millrace.ts'
import { describeWithShared } from '../support/shared.ts'
import { type Result, runBlackbox } from './blackbox.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 })

describeWithShared('the program on a recorded chain', () => {
  const dataDir = freshDataDir(42431)
  let replay: Replay
  let program: RunningMillrace
  let results: readonly Result[]

  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo')
    program = await startMillrace({ DATA_DIR: dataDir.path, RPC_URL: replay.url })
    await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  })
  afterAll(async () => {
    await program?.stop()
    await replay?.close()
    dataDir.remove()
  })

  test('every operation passes every check', async () => {
    results = await runBlackbox(program.origin)
    expect(results.filter(({ failures }) => failures.length > 0)).toEqual([])
    expect(results.reduce((sum, { expectations }) => sum + expectations, 0)).toBeGreaterThan(10_000)
  })

  test('and little is left that this chain cannot show', () => {
    const left = results.flatMap(({ operation, notes }) =>
      notes.filter((note) => !/rows walked$/.test(note)).map((note) => `${operation}: ${note}`),
    )
    expect(left).toEqual([
      // Nobody pays in another token here.
      'GET /v1/transfers: include=crossToken added nothing',
      // The answer says how long the query took.
      'GET /v1/indexer/query: it changed while it was read',
    ])
  })

  test('the commands of the README', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    const commands = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
      .map(([, language, block = '']) => (language === '' ? block : ''))
      .filter((block) => /^(curl|[A-Z]+=\$\(curl) /m.test(block))
    expect(commands.length).toBeGreaterThan(1)
    for (const block of commands) {
      const script = block
        .replaceAll('localhost:8080', new URL(program.origin).host)
        .replaceAll('curl ', 'curl -sS --fail-with-body --max-time 60 ')
      const { stdout } = await promisify(execFile)('sh', ['-euc', script], { maxBuffer: 64 * 1024 * 1024 })
      expect(stdout.length).toBeGreaterThan(0)
    }
  })
})

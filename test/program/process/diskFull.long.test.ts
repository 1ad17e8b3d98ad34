// Goal: a full disk under either store is told within seconds, ends nothing, corrupts nothing, and
// is over by itself once there is space again (ING-09).
// Method: the whole program on embedded engines, each with its data on a file system of its own in
// memory, which the test fills to the last block; at the end every block is compared with the node.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type GrowingProgram, startGrowing } from '../support/growingProgram.ts'
import { get, until } from '../support/millrace.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const engines = ['postgres', 'clickhouse'] as const
const SIZE = '300m'
const DEGRADED_MS = 5_000
const RESUME_MS = 30_000
/** Enough to halve 300 MB down to nothing. */
const FILL_ROUNDS = 100
/** How long the disk stays full: several retries of every lane. */
const FULL_MS = 20_000

/** Mounting needs root on Linux. In CI a run without it must not pass for a full one. */
function mayMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'millrace-mount-'))
  try {
    mount(place)
    execFileSync('umount', [place])
    return true
  } catch (cause) {
    if (process.env['CI'])
      throw new Error('a file system cannot be mounted, which CI does not allow', { cause })
    // biome-ignore lint/suspicious/noConsole: a skipped check must be seen in any reporter
    console.warn('SKIPPED: a full disk: mounting a file system needs root on Linux')
    return false
  } finally {
    rmSync(place, { recursive: true })
  }
}

function mount(place: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'none', place], { stdio: 'pipe' })
}

describe.runIf(mayMount())('a full disk', () => {
  let running: GrowingProgram
  const mounted: string[] = []

  beforeAll(async () => {
    running = await startGrowing((dataDir) => {
      for (const engine of engines) {
        const place = join(dataDir, engine)
        mkdirSync(place)
        mount(place)
        mounted.push(place)
      }
    })
  })
  afterAll(async () => {
    await running?.stop()
    for (const place of mounted) execFileSync('umount', [place])
    await running?.close()
  })

  const filler = (engine: string) => join(running.dataDir, engine, 'filler')
  function fill(engine: string): void {
    let filled = 0
    for (let round = 0; round < FILL_ROUNDS; round++) {
      const { bavail, bsize } = statfsSync(join(running.dataDir, engine))
      if (bavail === 0) return
      // The engine takes some of it meanwhile, so that the rest may have to be asked for in halves.
      const bytes = Math.ceil(bavail / (round % 2 === 0 ? 1 : 2)) * bsize
      try {
        execFileSync('fallocate', ['-o', `${filled}`, '-l', `${bytes}`, filler(engine)], { stdio: 'pipe' })
        filled += bytes
      } catch {}
    }
  }

  test.each(engines)('of %s is told, and over by itself when there is space again', async (engine) => {
    const { program } = running
    fill(engine)
    // Blocks that are written already have room; the clock starts when the store stops taking blocks.
    let stood = performance.now()
    let tip = await running.tip(engine)
    let told = 0
    await until(async () => {
      const now = await running.tip(engine)
      if (now !== tip) stood = performance.now()
      tip = now
      told = performance.now() - stood
      return running.degraded()
    })
    expect(told).toBeLessThanOrEqual(DEGRADED_MS)
    await new Promise((resolve) => setTimeout(resolve, FULL_MS))
    expect((await get(`${program.origin}/health`)).status).toBe(200)
    rmSync(filler(engine))
    const resumeMs = await running.recovery(RESUME_MS)
    process.stdout.write(`${engine} full: ${JSON.stringify({ toldMs: Math.round(told), resumeMs })}\n`)
    await running.expectNothingLost()
  })
})

// Goal: no power cut leaves the default chain standing: each start after one serves and moves again.
// Method: the program as a user starts it. SIGKILL ends it, its dev chain and its databases at once,
// at random moments of a start and of a run, twice before each look; and the chain comes back from a
// state that is older than what was final. powerCut.long.test.ts cuts at ten moments, for minutes.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { DEV_CHAIN_ID, devChainFiles } from '#local/devchain/devChainRecord.ts'
import { isLong } from '../../support/breadth.ts'
import { startTestDevChain } from '../../support/devchain.ts'
import { processesOf } from '../../support/processes.ts'
import { seedOf } from '../../support/seed.ts'
import {
  chainOf,
  endProcess,
  enginePids,
  freshDataDir,
  get,
  isRunning,
  type RunningMillrace,
  readPid,
  startMillrace,
  until,
} from '../support/millrace.ts'

const dataDir = freshDataDir()
const env = { DATA_DIR: dataDir.path }
const { state } = devChainFiles(dataDir.path, DEV_CHAIN_ID)
const ROUNDS = isLong ? 10 : 3
/** A start takes less on an idle machine: half of the moments lie in it, on a busy one all. */
const MOMENT_MS_MAX = 10_000
let program: RunningMillrace | undefined

afterEach(async () => {
  await program?.stop()
  program = undefined
})
afterAll(() => dataDir.remove())

test('a chain that comes back without a block that was final begins anew by itself', async () => {
  program = await startMillrace(env)
  await goesOn(program)
  await program.stop()
  copyFileSync(state, `${state}.older`)
  program = await startMillrace(env)
  await isFinalBeyond(program, (await chainOf(program, DEV_CHAIN_ID)).head ?? 0)
  const before = await finalized(program)
  await cutPower()
  copyFileSync(`${state}.older`, state)

  program = await startMillrace(env)
  expect(program.stderr()).toMatch(/THE DEV CHAIN STARTS ANEW: block \d+, which was final/)
  expect(await finalized(program)).toBeLessThan(before)
  await goesOn(program)
})

test('after cuts at any moments, twice in a row, it serves and moves', async () => {
  const moments = momentsFrom(seedOf(1))
  for (let round = 0; round < ROUNDS; round++) {
    await cutDuringStart(moments())
    await cutDuringStart(moments())
    program = await startMillrace(env)
    await goesOn(program)
    await cutPower()
  }
})

/** anvil writes its state every minute unless told otherwise. */
if (isLong)
  test('the state of a chain that runs on is not written', async () => {
    const { dataDir, remove } = await startTestDevChain(31_337)
    await new Promise((resolve) => setTimeout(resolve, 70_000))
    expect(existsSync(devChainFiles(dataDir, 31_337).state)).toBe(false)
    await remove()
  })

/** Ends the program that runs and all that it started, as nothing but a cut of power does. */
async function cutPower(): Promise<void> {
  const all = [holder(), ...processesOf(dataDir.path), ...enginePids(dataDir.path)]
  for (const pid of all.filter(isRunning)) endProcess(pid)
  await until(async () => !all.some(isRunning))
  program = undefined
}

const holder = (): number => readPid(join(dataDir.path, 'lock'))

/** The program may be anywhere by then, also serving. */
async function cutDuringStart(afterMs: number): Promise<void> {
  const ended = startMillrace(env).then(
    (running) => running.ended,
    () => {},
  )
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  // The lock of the last one names a process that is gone.
  await until(async () => isRunning(holder()))
  await cutPower()
  await ended
}

/** Serves, and its final height grows. @throws where it stands for good */
async function goesOn(running: RunningMillrace): Promise<void> {
  await isFinalBeyond(running, (await finalized(running)) + 3)
  await until(async () => (await get(`${running.origin}/ready`)).status === 200)
}

async function isFinalBeyond(running: RunningMillrace, height: number): Promise<void> {
  await until(async () => (await finalized(running)) > height)
}

async function finalized(running: RunningMillrace): Promise<number> {
  const chain = await chainOf(running, DEV_CHAIN_ID)
  for (const lane of chain.lanes)
    if (lane.state === 'stopped' || lane.state === 'finality_violated')
      throw new Error(`${lane.state}: ${lane.problem}`)
  return chain.finalized ?? -1
}

/** Moments of a run, the same for each seed. */
function momentsFrom(seed: number): () => number {
  let drawn = seed
  return () => {
    drawn = (Math.imul(drawn, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return drawn % MOMENT_MS_MAX
  }
}

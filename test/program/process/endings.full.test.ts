// Goal: SIGTERM ends the program cleanly: sent to every process at once, as systemd does by default,
// and to the first process of a container.
// Method: the program in a process of its own, started three times on one data directory.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { processesOf, treeOf } from '../../support/processes.ts'
import {
  blockIndexed,
  chainOf,
  type Ended,
  freshDataDir,
  get,
  mayMakeContainers,
  type RunningMillrace,
  startAsFirst,
  startMillrace,
  until,
} from '../support/millrace.ts'

const dataDir = freshDataDir()
const env = { DATA_DIR: dataDir.path }
const CHAIN = 1337
let program: RunningMillrace
/** Hash of block 1, once it was seen. */
let firstHash: string | null = null
let tip = 0

afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

/** The program goes on with the chain it had. */
async function goesOn(): Promise<void> {
  await blockIndexed(program, tip + 3)
  tip = (await chainOf(program, CHAIN)).stores.postgres.tip ?? 0
  const hashOf = async () => Object((await get(`${program.origin}/v1/blocks/1`)).body).hash ?? null
  await until(async () => (await hashOf()) !== null)
  firstHash ??= await hashOf()
  expect(await hashOf()).toBe(firstHash)
}

async function expectClean({ code, stderr }: Ended): Promise<void> {
  expect(code, stderr).toBe(0)
  expect(stderr).not.toMatch(/"level":[56]0/)
  await until(async () => processesOf(dataDir.path).length === 0)
  expect(existsSync(join(dataDir.path, 'lock'))).toBe(false)
}

test.runIf(process.platform === 'linux')('SIGTERM to every process at once ends it cleanly', async () => {
  program = await startMillrace(env)
  await goesOn()
  for (const pid of treeOf(program.pid)) process.kill(pid, 'SIGTERM')
  await expectClean(await program.ended)
})

test.runIf(mayMakeContainers())('SIGTERM to the first process of a container ends it cleanly', async () => {
  program = await startAsFirst(env)
  await goesOn()
  await expectClean(await program.stop())
})

test('the next start goes on with the same chain', async () => {
  program = await startMillrace(env)
  await goesOn()
})
